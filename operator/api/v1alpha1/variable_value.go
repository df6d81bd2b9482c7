package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// VariableFlag is a value of spec.engine.variables as commitd's command line takes it.
func VariableFlag(v apiextensionsv1.JSON) (string, error) {
	var value any
	if err := json.Unmarshal(v.Raw, &value); err != nil {
		return "", fmt.Errorf("not JSON: %w", err)
	}
	switch value := value.(type) {
	case string:
		return value, nil
	case bool:
		if value {
			return "ON", nil
		}
		return "OFF", nil
	case float64:
		if _, err := strconv.ParseInt(string(v.Raw), 10, 64); err != nil {
			return "", fmt.Errorf("%s is not an integer: write it as a string", v.Raw)
		}
		return string(v.Raw), nil
	default:
		return "", fmt.Errorf("%s is neither a string, nor an integer, nor a boolean", v.Raw)
	}
}

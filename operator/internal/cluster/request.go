package cluster

import (
	"encoding/json"
	"strings"

	"commitlab.dev/operator/api/v1alpha1"
)

// requested reads what an annotation asks for; nil when it asks for nothing. An unknown field is an error: it may have been meant to
// keep something from being done. check says what else is wrong.
func requested[R any](c *v1alpha1.CommitCluster, annotation string, check func(*R) error) (*R, error) {
	text := c.Annotations[annotation]
	if text == "" {
		return nil, nil
	}
	r := new(R)
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return nil, err
	}
	if err := check(r); err != nil {
		return nil, err
	}
	return r, nil
}

package plugin

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
)

// output is how a reading command shows what it has read.
type output string

const (
	outputText output = ""
	outputJSON output = "json"
)

// Set refuses what there is no output for, before anything is read.
func (o *output) Set(text string) error {
	if output(text) != outputText && output(text) != outputJSON {
		return fmt.Errorf("there is no output %q: json, or none for people", text)
	}
	*o = output(text)
	return nil
}

func (o *output) String() string { return string(*o) }

// Type is what help shows.
func (o *output) Type() string { return "json" }

func (o *output) addTo(cmd *cobra.Command) {
	cmd.Flags().VarP(o, "output", "o", "json: the object as the API has it, for programs")
}

// printJSON writes an object as kubectl does, without who has written which field.
func printJSON(out io.Writer, object client.Object) error {
	shown, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object of the API", object)
	}
	kind := "CommitCluster"
	if _, test := object.(*v1alpha1.RecoveryTest); test {
		kind = "RecoveryTest"
	}
	shown.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	shown.SetManagedFields(nil)
	text, err := json.MarshalIndent(shown, "", "    ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(text))
	return err
}

package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Owner is the record of the one cluster that runs on this machine. It lies
// outside every checkout, so that all of them see it.
type Owner struct {
	Build   string            `json:"build"` // build folder of the checkout it belongs to
	Network string            `json:"network"`
	Process Process           `json:"process"`
	Sysctls map[string]string `json:"sysctls"` // values from before it came up
}

// ReadOwner returns nil when there is no record.
func ReadOwner(path string) (*Owner, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var owner Owner
	if err := json.Unmarshal(content, &owner); err != nil {
		return nil, fmt.Errorf("%s is damaged; delete it if no local cluster runs: %w", path, err)
	}
	return &owner, nil
}

// Write records the owner, replacing what was there in one step.
func (o Owner) Write(path string) error {
	content, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(content, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// CheckFree returns an error when another checkout's cluster runs.
func (o *Owner) CheckFree(build string) error {
	if o == nil || o.Build == build || !o.Process.Alive() {
		return nil
	}
	return fmt.Errorf("a local cluster of another checkout is running (its state is in %s); there can be one per machine: stop it with %s down",
		filepath.Join(o.Build, "localcluster"), filepath.Join(o.Build, "bin", "localcluster"))
}

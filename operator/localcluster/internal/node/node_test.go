package node

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"commitlab.dev/localcluster/internal/layout"
	clusterpki "commitlab.dev/localcluster/internal/pki"
)

// nodePath matches the node's own paths in flags and configuration files.
var nodePath = regexp.MustCompile(regexp.QuoteMeta(layout.NodeState) + `/[\w./-]+`)

var testNetwork = must(layout.ParseNetwork("192.168.77.0/24"))

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestEveryFileThatIsReferredToIsWritten(t *testing.T) {
	state := t.TempDir()
	if err := clusterpki.WriteAll(filepath.Join(state, "pki"), testNetwork); err != nil {
		t.Fatal(err)
	}
	if err := WriteConfig(filepath.Join(state, "config"), testNetwork); err != nil {
		t.Fatal(err)
	}
	references := nodePath.FindAllString(allText(t, filepath.Join(state, "config")), -1)
	if len(references) < 20 {
		t.Fatalf("only %d references found", len(references))
	}
	for _, reference := range references {
		onHost := filepath.Join(state, strings.TrimPrefix(reference, layout.NodeState))
		if _, err := os.Stat(onHost); err != nil {
			t.Errorf("%s is referred to and does not exist", reference)
		}
	}
}

func TestConfigurationAndFlagsAgreeOnAddresses(t *testing.T) {
	dir := t.TempDir()
	if err := WriteConfig(dir, testNetwork); err != nil {
		t.Fatal(err)
	}
	for file, values := range map[string][]string{
		"containerd.toml":        {layout.NodeContainerd, layout.NodeDebian},
		"kubelet.yaml":           {testNetwork.Node(), layout.DNSVIP, layout.ClusterDomain, layout.NodeContainerd},
		"kube-proxy.yaml":        {testNetwork.Node(), layout.PodCIDR, layout.NodeName},
		"cni/10-bridge.conflist": {layout.PodCIDR},
	} {
		content, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			if !strings.Contains(string(content), value) {
				t.Errorf("%s does not have %s", file, value)
			}
		}
	}
}

func TestTheNodesAddressIsTheOneThatWasChosen(t *testing.T) {
	dir := t.TempDir()
	if err := WriteConfig(dir, testNetwork); err != nil {
		t.Fatal(err)
	}
	text := allText(t, dir)
	for _, wrong := range []string{"@NODE@", layout.DefaultNetwork.Node()} {
		if strings.Contains(text, wrong) {
			t.Errorf("%s is still in a flag or a configuration file", wrong)
		}
	}
}

func TestAComponentThatEndsIsStartedAgain(t *testing.T) {
	dir := t.TempDir()
	s := newSupervisor(dir, nil)
	go s.reap()
	once := Component{Name: "once", Path: "/bin/sh", Args: []string{"-c", "echo started"}}
	if err := s.startAll([]Component{once}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		log, _ := os.ReadFile(filepath.Join(dir, "once.log"))
		if strings.Count(string(log), "started") >= 2 {
			return
		}
	}
	t.Error("it was started once only")
}

// allText is every component's flags and every configuration file.
func allText(t *testing.T, configDir string) string {
	t.Helper()
	var text strings.Builder
	for _, c := range slices.Concat(apiServerComponents(testNetwork), nodeComponents(testNetwork)) {
		text.WriteString(strings.Join(c.Args, "\n") + "\n")
	}
	err := filepath.WalkDir(configDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		text.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

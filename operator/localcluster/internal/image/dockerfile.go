package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Dockerfile is what a Dockerfile of this tree says. Where there is no Docker, the image is made from the same file: the programs' own libraries
// stand for FROM and RUN.
type Dockerfile struct {
	Base       string
	Packages   []string // that RUN installs with apt-get
	Copies     []File   // sources as they are written: relative to the context
	Env        []string // NAME=VALUE
	Entrypoint []string
	User       string

	arguments map[string]string // of the build: what ARG says, or who builds
}

var (
	continued = regexp.MustCompile(`\\\n`)
	installs  = regexp.MustCompile(`apt-get install (?:-\S+ )*([^&;|]*)`)
	setting   = regexp.MustCompile(`^[A-Za-z_]\w*=[^"'\\]*$`)
)

// ParseDockerfile reads the instructions that the images of this tree use, and refuses others: nothing is to be in one image and not in the other.
// Arguments are NAME=VALUE, as `docker build --build-arg` takes them, for what the Dockerfile declares by ARG.
func ParseDockerfile(text string, arguments ...string) (Dockerfile, error) {
	d := Dockerfile{arguments: map[string]string{}}
	for line := range strings.Lines(continued.ReplaceAllString(text, " ")) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := d.instruction(line); err != nil {
			return Dockerfile{}, fmt.Errorf("%s: %w", line, err)
		}
	}
	if d.Base == "" || len(d.Copies) == 0 || len(d.Entrypoint) == 0 || d.User == "" {
		return Dockerfile{}, errors.New("FROM, COPY, USER and ENTRYPOINT are needed")
	}
	return d, d.give(arguments)
}

// give sets the build's arguments, and puts them where ENV asks for them.
func (d *Dockerfile) give(arguments []string) error {
	for _, argument := range arguments {
		name, value, given := strings.Cut(argument, "=")
		if _, declared := d.arguments[name]; !declared || !given {
			return fmt.Errorf("the build argument %s: the Dockerfile has no such ARG, or it has no value", argument)
		}
		d.arguments[name] = value
	}
	for i, variable := range d.Env {
		var unknown string
		d.Env[i] = os.Expand(variable, func(name string) string {
			value, declared := d.arguments[name]
			if !declared {
				unknown = name
			}
			return value
		})
		if unknown != "" {
			return fmt.Errorf("ENV %s: there is no ARG %s", variable, unknown)
		}
	}
	return nil
}

func (d *Dockerfile) instruction(line string) error {
	name, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	switch {
	case name == "FROM" && len(words) == 1 && d.Base == "":
		d.Base = words[0]
	case name == "RUN" && installs.MatchString(rest):
		d.Packages = append(d.Packages, strings.Fields(installs.FindStringSubmatch(rest)[1])...)
	case name == "COPY" && len(words) == 2 && !strings.HasPrefix(words[0], "-") && strings.HasPrefix(words[1], "/"):
		d.Copies = append(d.Copies, File{Source: words[0], Target: words[1]})
	case name == "ARG" && len(words) == 1 && setting.MatchString(words[0]):
		argument, value, _ := strings.Cut(words[0], "=")
		d.arguments[argument] = value
	case name == "ENV" && len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return !setting.MatchString(word) }):
		d.Env = append(d.Env, words...)
	case name == "USER" && len(words) == 1:
		d.User = words[0]
	case name == "ENTRYPOINT":
		return json.Unmarshal([]byte(rest), &d.Entrypoint)
	default:
		return errors.New("this instruction, or this form of it, is not understood")
	}
	return nil
}

// FillFrom takes what the Dockerfile says; its sources lie below context. The libraries that come along must be among the packages that it installs.
func (spec *Spec) FillFrom(dockerfile, context string, arguments ...string) error {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return err
	}
	d, err := ParseDockerfile(string(text), arguments...)
	if err != nil {
		return fmt.Errorf("%s: %w", dockerfile, err)
	}
	for _, file := range d.Copies {
		spec.Extra = append(spec.Extra, File{Source: filepath.Join(context, file.Source), Target: file.Target})
	}
	spec.Entrypoint, spec.User, spec.Env, spec.LibClosure = d.Entrypoint, d.User, d.Env, true
	libraries, err := libraryClosure(spec.Extra)
	if err != nil {
		return err
	}
	missing, err := d.lacks(libraries)
	if err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("%s: what is copied needs packages that it does not install: %s", dockerfile, strings.Join(missing, " "))
}

// inEveryBase are packages that Debian's smallest image cannot be without.
var inEveryBase = []string{"libc6", "libgcc-s1"}

// lacks names the packages of the libraries that an image built by Docker would not have.
func (d Dockerfile) lacks(libraries []File) ([]string, error) {
	missing := map[string]bool{}
	for _, library := range libraries {
		owner, err := packageOf(library.Source)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(d.Packages, owner) && (!strings.HasPrefix(d.Base, "debian:") || !slices.Contains(inEveryBase, owner)) {
			missing[owner] = true
		}
	}
	return slices.Sorted(maps.Keys(missing)), nil
}

// packageOf asks dpkg, which knows a file of /usr/lib as one of /lib or the other way round.
func packageOf(path string) (string, error) {
	bare := strings.TrimPrefix(path, "/usr")
	for _, candidate := range []string{bare, "/usr" + bare} {
		out, err := exec.Command("dpkg", "-S", candidate).Output()
		if err == nil {
			owner, _, _ := strings.Cut(string(out), ":")
			return owner, nil
		}
	}
	return "", fmt.Errorf("%s belongs to no Debian package", path)
}

package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"commitlab.dev/localcluster/internal/cluster"
	"commitlab.dev/localcluster/internal/image"
)

func imageCommand(find finder) *cobra.Command {
	parent := &cobra.Command{Use: "image", Short: "Make images from programs and give them to the cluster"}
	parent.AddCommand(imageBuildCommand(), imageLoadCommand(find))
	return parent
}

type buildFlags struct {
	binaries, extra, links []string
	output                 string
}

func imageBuildCommand() *cobra.Command {
	var flags buildFlags
	var spec image.Spec
	cmd := &cobra.Command{
		Use:   "build NAME:TAG --binary PROGRAM --output ARCHIVE",
		Short: "Write an image archive that holds programs and what they need",
		Example: `  localcluster image build commitlab.dev/commitd:local --lib-closure \
    --binary build/bin/commitd --entrypoint /usr/local/bin/commitd --output commitd.tar`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			spec.Name = args[0]
			if err := flags.fill(&spec); err != nil {
				return err
			}
			return image.Build(spec, flags.output)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.binaries, "binary", nil, "a program, as SOURCE[:/PATH/IN/IMAGE] (default path /usr/local/bin/NAME); repeatable")
	f.StringArrayVar(&flags.extra, "extra", nil, "another file or folder, as SOURCE:/PATH/IN/IMAGE; repeatable")
	f.StringArrayVar(&flags.links, "link", nil, "a symbolic link, as /PATH/IN/IMAGE:TARGET; repeatable")
	f.BoolVar(&spec.LibClosure, "lib-closure", false, "add the shared libraries that ldd names")
	f.StringArrayVar(&spec.Entrypoint, "entrypoint", nil, "what the container runs: the program, then its arguments; repeatable")
	f.StringVar(&spec.User, "user", "", "user (and :group) the container runs as")
	f.StringVarP(&flags.output, "output", "o", "", "the archive to write")
	for _, name := range []string{"binary", "output"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

func (f buildFlags) fill(spec *image.Spec) error {
	for _, arg := range f.binaries {
		file, err := image.ParseFile(arg)
		if err != nil {
			return err
		}
		spec.Binaries = append(spec.Binaries, file)
	}
	for _, arg := range f.extra {
		file, err := image.ParseFile(arg)
		if err != nil {
			return err
		}
		spec.Extra = append(spec.Extra, file)
	}
	spec.Links = map[string]string{}
	for _, arg := range f.links {
		place, target, found := strings.Cut(arg, ":")
		if !found || !strings.HasPrefix(place, "/") || target == "" {
			return fmt.Errorf("%q is not /PATH/IN/IMAGE:TARGET", arg)
		}
		spec.Links[place] = target
	}
	return nil
}

func imageLoadCommand(find finder) *cobra.Command {
	return &cobra.Command{
		Use:   "load ARCHIVE...",
		Short: "Import image archives into the cluster",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, archives []string) error {
			l, err := find()
			if err != nil {
				return err
			}
			return cluster.LoadImages(l, archives)
		},
	}
}

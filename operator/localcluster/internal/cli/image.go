package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"commitlab.dev/localcluster/internal/cluster"
	"commitlab.dev/localcluster/internal/image"
)

func imageCommand(find finder) *cobra.Command {
	parent := &cobra.Command{Use: "image", Short: "Make images from programs, and give them to the cluster or to a registry"}
	parent.AddCommand(imageBuildCommand(), imagePushCommand(), imageLoadCommand(find))
	return parent
}

type buildFlags struct {
	binaries, extra, links []string
	output                 string
	dockerfile, context    string
	arguments              []string
}

func imageBuildCommand() *cobra.Command {
	var flags buildFlags
	var spec image.Spec
	cmd := &cobra.Command{
		Use:   "build NAME:TAG {--binary PROGRAM | --dockerfile FILE} --output ARCHIVE",
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
	f.StringVar(&flags.dockerfile, "dockerfile", "", "take files, user and entry point from this Dockerfile, and libraries from this machine")
	f.StringVar(&flags.context, "context", ".", "the folder that the Dockerfile's sources are in")
	f.StringArrayVar(&flags.arguments, "build-arg", nil, "NAME=VALUE of an ARG of the Dockerfile; repeatable")
	if err := cmd.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is defined above
	}
	cmd.MarkFlagsOneRequired("binary", "dockerfile")
	cmd.MarkFlagsMutuallyExclusive("binary", "dockerfile")
	return cmd
}

func (f buildFlags) fill(spec *image.Spec) error {
	if f.dockerfile != "" {
		return spec.FillFrom(f.dockerfile, f.context, f.arguments...)
	}
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

func imagePushCommand() *cobra.Command {
	var registry, tag string
	cmd := &cobra.Command{
		Use:   "push ARCHIVE... --registry REGISTRY --tag TAG",
		Short: "Upload image archives; who may is read from Docker's configuration",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, archives []string) error {
			for _, archive := range archives {
				pushed, err := image.Push(cmd.Context(), archive, registry, tag)
				if err != nil {
					return fmt.Errorf("push %s: %w", archive, err)
				}
				fmt.Fprintln(cmd.OutOrStdout(), "pushed", pushed)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&registry, "registry", "", "where to, such as registry.example/team")
	cmd.Flags().StringVar(&tag, "tag", "", "the images' tag there")
	for _, name := range []string{"registry", "tag"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return cmd
}

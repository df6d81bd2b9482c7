package plugin

import (
	"io"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/api/v1alpha1"
)

func newLogsCommand(s *session) *cobra.Command {
	var role, pod string
	options := corev1.PodLogOptions{Container: "commitd"}
	cmd := &cobra.Command{
		Use:   "logs [CLUSTER]",
		Short: "Show the log of the master, or of another server",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := s.cluster(cmd.Context(), args)
			if err != nil {
				return err
			}
			name, err := podWithRole(c, role, pod)
			if err != nil {
				return err
			}
			stream, err := s.clientset.CoreV1().Pods(c.Namespace).GetLogs(name, &options).Stream(cmd.Context())
			if err != nil {
				return err
			}
			defer stream.Close()
			_, err = io.Copy(s.out, stream)
			return err
		},
	}
	cmd.Flags().StringVar(&role, "role", v1alpha1.RoleMaster, "master or replica")
	cmd.Flags().StringVar(&pod, "pod", "", "this pod, whatever its role")
	cmd.Flags().BoolVarP(&options.Follow, "follow", "f", false, "go on as the log grows")
	cmd.Flags().BoolVarP(&options.Previous, "previous", "p", false, "the log of the container before the last restart")
	return cmd
}

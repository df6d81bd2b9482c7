package plugin

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"text/tabwriter"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/controller"
)

func newSQLCommand(s *session) *cobra.Command {
	var role, pod, statement string
	var format output
	cmd := &cobra.Command{
		Use:     "sql [CLUSTER] -e STATEMENT",
		Short:   "Run a statement as the application's user, through a port-forward",
		Example: `  kubectl commitlab sql demo -e 'SELECT COUNT(*) FROM t'`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			c, err := s.cluster(ctx, args)
			if err != nil {
				return err
			}
			name, err := podWithRole(c, role, pod)
			if err != nil {
				return err
			}
			db, stop, err := s.open(ctx, c, name)
			if err != nil {
				return err
			}
			defer stop()
			return printQuery(ctx, s.out, db, statement, format)
		},
	}
	cmd.Flags().StringVar(&role, "role", v1alpha1.RoleMaster, "master or replica")
	cmd.Flags().StringVar(&pod, "pod", "", "this pod, whatever its role")
	cmd.Flags().StringVarP(&statement, "execute", "e", "", "the statement")
	cmd.Flags().VarP(&format, "output", "o", "json: the rows as a list of objects, for programs")
	_ = cmd.MarkFlagRequired("execute")
	return cmd
}

// open logs in at a pod with what the application's Secret says.
func (s *session) open(ctx context.Context, c *v1alpha1.CommitCluster, pod string) (*sql.DB, func(), error) {
	var secret corev1.Secret
	if err := s.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: controller.AppSecretName(c)}, &secret); err != nil {
		return nil, nil, fmt.Errorf("the application's Secret: %w", err)
	}
	port, stopForward, err := s.forward(c.Namespace, pod, cluster.MySQLPort)
	if err != nil {
		return nil, nil, err
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.DBName = string(secret.Data["username"]), string(secret.Data["password"]), string(secret.Data["database"])
	cfg.TLSConfig = "preferred" // there may be nothing else (spec.tls.requireSecureTransport); the port-forward ends at the pod itself
	cfg.Net, cfg.Addr = "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		stopForward()
		return nil, nil, err
	}
	db := sql.OpenDB(connector)
	return db, func() { _ = db.Close(); stopForward() }, nil
}

// forward makes a pod's port reachable on a free local one.
func (s *session) forward(namespace, pod string, port int32) (uint16, func(), error) {
	transport, upgrader, err := spdy.RoundTripperFor(s.config)
	if err != nil {
		return 0, nil, err
	}
	url := s.clientset.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url)
	stop, ready, failed := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)}, stop, ready, io.Discard, s.errOut)
	if err != nil {
		return 0, nil, err
	}
	go func() { failed <- forwarder.ForwardPorts() }()
	select {
	case err := <-failed:
		return 0, nil, fmt.Errorf("port-forward to %s: %w", pod, err)
	case <-ready:
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		close(stop)
		return 0, nil, err
	}
	return ports[0].Local, func() { close(stop) }, nil
}

func printQuery(ctx context.Context, out io.Writer, db *sql.DB, statement string, format output) error {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	if format == outputJSON {
		return writeRowsAsJSON(out, rows)
	}
	return writeRowsAsTable(out, rows)
}

// writeRowsAsTable shows NULLs as NULL.
func writeRowsAsTable(out io.Writer, rows *sql.Rows) error {
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	printRow(w, columns)
	values := make([]sql.NullString, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = "NULL"
			if v.Valid {
				row[i] = v.String
			}
		}
		printRow(w, row)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return w.Flush()
}

func printRow(w io.Writer, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, cell)
	}
	if len(cells) > 0 {
		fmt.Fprintln(w)
	}
}

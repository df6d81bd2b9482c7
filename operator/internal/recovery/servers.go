package recovery

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Servers is what the operator asks the cluster's pods by itself.
type Servers interface {
	// Reached tells whether a connection can be made, and how long that took.
	Reached(ctx context.Context, address string) (bool, time.Duration)
	// CrashRecovery is what a server says of its last start; nil when it does not say it.
	CrashRecovery(ctx context.Context, host string) *CrashRecovery
	// Disk is what the library in front of a server's C library says of the disk; plain when the server answers and no such library does.
	Disk(ctx context.Context, host string) (disk *Disk, plain bool)
	// Trouble tells that library what is wrong with the machine from now on.
	Trouble(ctx context.Context, host string, trouble Trouble) error
}

const metricsPort = 8080

// maxMetrics bounds what is read of a server's metrics.
const maxMetrics = 4 << 20

// Network asks pods at their addresses.
type Network struct{}

// Reached makes a connection and drops it.
func (Network) Reached(ctx context.Context, address string) (bool, time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var dialer net.Dialer
	began := time.Now()
	connection, err := dialer.DialContext(ctx, "tcp", address)
	took := time.Since(began)
	if err != nil {
		return false, took
	}
	_ = connection.Close()
	return true, took
}

// CrashRecovery reads the two gauges of the server's metrics.
func (Network) CrashRecovery(ctx context.Context, host string) *CrashRecovery {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	body, err := get(ctx, host, metricsPort)
	if err != nil {
		return nil
	}
	return parseCrashRecovery(body)
}

// get reads what a server says at /metrics of one of its ports.
func get(ctx context.Context, host string, port int) (metrics []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/metrics", net.JoinHostPort(host, strconv.Itoa(port))), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(io.LimitReader(response.Body, maxMetrics))
}

func parseCrashRecovery(metrics []byte) *CrashRecovery {
	values, all := parseMetrics(metrics, "commitd_recovery_replayed_rows", "commitd_recovery_seconds")
	if !all {
		return nil
	}
	return &CrashRecovery{Rows: int64(values[0]), Took: time.Duration(values[1] * float64(time.Second))}
}

// parseMetrics finds metrics without labels, in the order of their names; all says that none is missing.
func parseMetrics(metrics []byte, names ...string) (values []float64, all bool) {
	values, missing := make([]float64, len(names)), len(names)
	for line := range strings.Lines(string(metrics)) {
		name, text, _ := strings.Cut(line, " ")
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && value >= 0 {
			values[i], missing = value, missing-1
		}
	}
	return values, missing == 0
}

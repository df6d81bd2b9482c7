package recovery

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/metrics", net.JoinHostPort(host, strconv.Itoa(metricsPort))), nil)
	if err != nil {
		return nil
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	return parseCrashRecovery(io.LimitReader(response.Body, maxMetrics))
}

func parseCrashRecovery(metrics io.Reader) *CrashRecovery {
	values := map[string]float64{"commitd_recovery_replayed_rows": -1, "commitd_recovery_seconds": -1}
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if _, wanted := values[name]; !wanted {
			continue
		}
		if value, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
			values[name] = value
		}
	}
	rows, seconds := values["commitd_recovery_replayed_rows"], values["commitd_recovery_seconds"]
	if rows < 0 || seconds < 0 {
		return nil
	}
	return &CrashRecovery{Rows: int64(rows), Took: time.Duration(seconds * float64(time.Second))}
}

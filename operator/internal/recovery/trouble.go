package recovery

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"strconv"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
)

// Trouble is what is wrong with a server's machine for a while, as its library is told. Without a duration nothing is.
type Trouble struct {
	Kind TroubleKind
	// ID tells one from the other; to be told of the same one again changes nothing.
	ID uint32
	// How is all else, as chaos/powerloss/requests.c reads it.
	How      string
	Duration time.Duration
}

// TroubleKind is what may be wrong. A machine has one of each kind at most.
type TroubleKind int

// Kinds.
const (
	TroubleOfDisk TroubleKind = iota
	TroubleOfNetwork
	TroubleOfClock
	TroubleOfProcessors
	TroubleOfMemory
	troubleKinds
)

// Told is what the library says of the last trouble of a kind.
type Told struct {
	ID uint32
	// Done is how much of it has happened, in its own measure.
	Done int64
}

// troubleNames of each kind: where it is asked for, and the metrics that tell of it.
var troubleNames = [troubleKinds]struct{ path, id, done string }{
	TroubleOfDisk:       {"spoil", "powerloss_spoil_id", "powerloss_spoiled_calls"},
	TroubleOfNetwork:    {"network", "powerloss_network_id", "powerloss_network_late_sends"},
	TroubleOfClock:      {"clock", "powerloss_clock_id", "powerloss_clock_wrong_answers"},
	TroubleOfProcessors: {"processors", "powerloss_processors_id", "powerloss_processors_milliseconds"},
	TroubleOfMemory:     {"memory", "powerloss_memory_id", "powerloss_memory_bytes"},
}

func troubleOf(t *v1alpha1.RecoveryTest, f Fault) Trouble {
	s := substitutes[f.Kind]
	return Trouble{Kind: s.trouble, ID: troubleID(t, f), How: s.how(f), Duration: f.Duration}
}

// troubleID is the fault's own: what a library says of an earlier one proves nothing of this.
func troubleID(t *v1alpha1.RecoveryTest, f Fault) uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%s", t.UID, f.Name)
	return h.Sum32()
}

// trouble tells each object's library. A server that does not run is told at the next look; what is wrong ends by itself.
func (r *Reconciler) trouble(ctx context.Context, v View, objects []v1alpha1.FaultObject, trouble Trouble) error {
	var all error
	for _, o := range objects {
		if s := v.server(o.Name); s != nil && s.Running {
			all = errors.Join(all, r.Servers.Trouble(ctx, s.Address, trouble))
		}
	}
	return all
}

// Trouble asks the library for it.
func (Network) Trouble(ctx context.Context, host string, trouble Trouble) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	url := fmt.Sprintf("http://%s/%s?id=%d&%s&for_ms=%d", net.JoinHostPort(host, strconv.Itoa(diskPort)),
		troubleNames[trouble.Kind].path, trouble.ID, trouble.How, trouble.Duration.Milliseconds())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

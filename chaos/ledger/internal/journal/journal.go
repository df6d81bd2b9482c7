// Package journal is the ledger's own memory: an append-only file in which an id counts as acknowledged only once it has
// been synced. Appends of all writers share one write and one fdatasync, as the commits they describe do.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"commitlab.dev/ledger/internal/entry"
)

// queueLength bounds what may be waiting for the disk; beyond it writers wait.
const queueLength = 4096

// maxBatch bounds one write.
const maxBatch = 1024

type pending struct {
	record  Record
	durable chan<- struct{}
}

// Journal appends records and keeps the State of everything that is durable.
type Journal struct {
	file  *os.File
	queue chan pending
	done  chan struct{}

	mu    sync.Mutex
	state *State
	err   error
	// failed is closed when the file can no longer be trusted.
	failed chan struct{}
}

// Open continues the journal at path, or starts one for the run. It takes an exclusive lock: two ledgers on one file
// would each believe the other's ids to be their own.
func Open(path string, run entry.Run) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("journal %s is in use by another ledger: stop it or choose another --file", path)
	}
	state, err := recoverFile(file, run)
	if err != nil {
		file.Close()
		return nil, err
	}
	j := &Journal{
		file: file, queue: make(chan pending, queueLength), done: make(chan struct{}),
		state: state, failed: make(chan struct{}),
	}
	go j.writeLoop()
	return j, nil
}

// Load reads a journal without changing it.
func Load(path string) (*State, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	state, _, err := replay(data)
	if err == nil && state.Run.Name == "" {
		err = fmt.Errorf("journal %s is empty: nothing was run with it", path)
	}
	return state, err
}

// replay applies every whole line and returns the length of that part.
func replay(data []byte) (*State, int64, error) {
	state := newState()
	whole := bytes.LastIndexByte(data, '\n') + 1
	for number, line := range strings.Split(strings.TrimSuffix(string(data[:whole]), "\n"), "\n") {
		if line == "" && whole == 0 {
			break
		}
		r, err := parse(line)
		if err != nil {
			return nil, 0, fmt.Errorf("journal line %d: %w", number+1, err)
		}
		r.apply(state)
	}
	return state, int64(whole), nil
}

// recoverFile replays the file, cuts a half-written last line, and writes the header of a new one.
func recoverFile(file *os.File, run entry.Run) (*State, error) {
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	state, whole, err := replay(data)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(whole); err != nil {
		return nil, fmt.Errorf("cut the journal's torn last line: %w", err)
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return nil, err
	}
	if whole > 0 {
		return state, nil
	}
	if err := run.Validate(); err != nil {
		return nil, err
	}
	first := header{run}
	if _, err := file.WriteString(first.line() + "\n"); err != nil {
		return nil, fmt.Errorf("start journal: %w", err)
	}
	first.apply(state)
	return state, syncWithDirectory(file)
}

func syncWithDirectory(file *os.File) error {
	if err := file.Sync(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(file.Name()))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// Sync returns once everything appended so far is durable.
func (j *Journal) Sync() error { return j.AppendSync(barrier{}) }

// Append queues a record. It waits only when the disk is far behind.
func (j *Journal) Append(r Record) error { return j.enqueue(pending{record: r}) }

// AppendSync returns once the record is durable.
func (j *Journal) AppendSync(r Record) error {
	durable := make(chan struct{})
	if err := j.enqueue(pending{record: r, durable: durable}); err != nil {
		return err
	}
	select {
	case <-durable:
		return nil
	case <-j.failed:
		return j.Err()
	}
}

func (j *Journal) enqueue(p pending) error {
	select {
	case j.queue <- p:
		return nil
	case <-j.failed:
		return j.Err()
	}
}

// Err tells why the journal stopped.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// View calls f with the durable state; f must not keep it.
func (j *Journal) View(f func(*State)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f(j.state)
}

// Close makes everything that was appended durable. No Append may follow or be under way.
func (j *Journal) Close() error {
	close(j.queue)
	<-j.done
	return errors.Join(j.Err(), j.file.Close())
}

func (j *Journal) writeLoop() {
	defer close(j.done)
	for first := range j.queue {
		batch := j.collect(first)
		if err := j.flush(batch); err != nil {
			j.fail(err)
			return
		}
	}
}

// collect takes whatever is waiting already; it never waits for more.
func (j *Journal) collect(first pending) []pending {
	batch := []pending{first}
	for len(batch) < maxBatch {
		select {
		case p, open := <-j.queue:
			if !open {
				return batch
			}
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

func (j *Journal) flush(batch []pending) error {
	var buffer bytes.Buffer
	for _, p := range batch {
		if line := p.record.line(); line != "" {
			buffer.WriteString(line)
			buffer.WriteByte('\n')
		}
	}
	if _, err := j.file.Write(buffer.Bytes()); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if err := unix.Fdatasync(int(j.file.Fd())); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range batch {
		p.record.apply(j.state)
		if p.durable != nil {
			close(p.durable)
		}
	}
	return nil
}

// fail keeps the first error: after a failed sync nobody knows what the disk holds, so nothing more may be acknowledged.
func (j *Journal) fail(err error) {
	j.mu.Lock()
	j.err = err
	j.mu.Unlock()
	close(j.failed)
}

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const restartDelay = time.Second

// supervisor keeps components running. As the first process of its PID
// namespace it also inherits every orphan (containerd's shims, for one), so
// there is a single place that waits for children: reap.
type supervisor struct {
	logDir string
	env    []string

	mu      sync.Mutex // held while a child starts, so that reap knows every child
	running map[int]Component
}

func newSupervisor(logDir string, env []string) *supervisor {
	return &supervisor{logDir: logDir, env: env, running: map[int]Component{}}
}

func (s *supervisor) startAll(components []Component) error {
	for _, c := range components {
		if err := s.start(c); err != nil {
			return fmt.Errorf("start %s: %w", c.Name, err)
		}
	}
	return nil
}

func (s *supervisor) start(c Component) error {
	log, err := os.OpenFile(filepath.Join(s.logDir, c.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()

	s.mu.Lock()
	defer s.mu.Unlock()
	// The name a program is called by chooses what the k8s binary does.
	process, err := os.StartProcess(c.Path, append([]string{c.Name}, c.Args...), &os.ProcAttr{
		Dir:   "/",
		Env:   s.env,
		Files: []*os.File{null, log, log},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return err
	}
	s.running[process.Pid] = c
	return process.Release() // reap waits for it, by number
}

// reap collects dead children for ever and starts the components among them anew.
func (s *supervisor) reap() {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err != nil {
			time.Sleep(100 * time.Millisecond) // no child at the moment
			continue
		}
		if c, ok := s.forget(pid); ok {
			fmt.Printf("%s %s ended (%s), starting it again\n",
				time.Now().UTC().Format(time.RFC3339), c.Name, describe(status))
			time.AfterFunc(restartDelay, func() {
				if err := s.start(c); err != nil {
					fmt.Printf("start %s: %v\n", c.Name, err)
				}
			})
		}
	}
}

func (s *supervisor) forget(pid int) (Component, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.running[pid]
	delete(s.running, pid)
	return c, ok
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

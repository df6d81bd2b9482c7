// Package dbserver starts a database server as a child process on loopback, kills it without warning and starts it again
// on the same data.
package dbserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Commands are templates of command lines, split at blanks, and of what is added to the environment; {datadir}, {port}, {http_port}, {socket}
// and {unsynced} are replaced.
type Commands struct {
	// Init is run once, before the first start; empty when the server initialises itself.
	Init string
	// Template is a datadir that was initialised already: a copy of it saves Init.
	Template string
	Run      string
	Env      []string
}

// Commitd returns how the commitd program is started.
func Commitd(program string) Commands {
	return Commands{
		Run: program + " --datadir={datadir} --port={port} --bind-address=127.0.0.1 --socket={socket}" +
			" --http-port={http_port} --http-address=127.0.0.1 --admin-port=0 --server-id=1",
		Env: []string{"MYSQL_ALLOW_EMPTY_PASSWORD=yes"},
	}
}

// CommitdMember returns how a server is started that gets its role from somebody else.
func CommitdMember(program string, serverID int) Commands {
	commands := Commitd(program)
	commands.Run = strings.Replace(commands.Run, "--server-id=1", fmt.Sprintf("--server-id=%d --require-role", serverID), 1)
	return commands
}

// MariaDB returns how Debian's MariaDB is started with the same durability.
func MariaDB() Commands {
	return Commands{
		Init: "mariadb-install-db --no-defaults --datadir={datadir} --auth-root-authentication-method=normal --user=root",
		Run: "mariadbd --no-defaults --user=root --datadir={datadir} --port={port} --bind-address=127.0.0.1" +
			" --socket={socket} --log-bin --sync-binlog=1 --innodb-flush-log-at-trx-commit=1 --server-id=1" +
			" --innodb-buffer-pool-size=64M --pid-file={datadir}/pid",
	}
}

// MariaDBMember returns how a MariaDB of a set is started: nothing that it has answered for is only in memory, neither as a source nor as a
// replica, it takes no writes, and it goes after no source before it is told to.
func MariaDBMember(serverID int) Commands {
	commands := MariaDB()
	commands.Run = strings.NewReplacer("--log-bin", "--log-bin=binlog", "--server-id=1", fmt.Sprintf("--server-id=%d", serverID)).Replace(commands.Run) +
		" --read-only=ON --skip-slave-start --log-slave-updates --gtid-strict-mode=ON --binlog-format=ROW --relay-log=relay-bin --sync-relay-log=1" +
		" --sync-relay-log-info=1 --sync-master-info=1 --slave-parallel-threads=4 --rpl-semi-sync-master-wait-point=AFTER_SYNC" +
		" --innodb-log-file-size=16M"
	commands.Init += " --innodb-log-file-size=16M"
	return commands
}

// Server is one server with its own directory and ports, which stay the same over restarts.
type Server struct {
	commands Commands
	dir      string
	port     int
	httpPort int

	process *exec.Cmd
	exited  chan struct{}
}

// New chooses ports and runs the initialisation. The data live under dir.
func New(commands Commands, dir string) (*Server, error) {
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	s := &Server{commands: commands, dir: dir, port: ports[0], httpPort: ports[1]}
	return s, s.initialise()
}

func (s *Server) initialise() error {
	for _, directory := range []string{s.dataDir(), s.tmpDir()} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return err
		}
	}
	switch {
	case s.commands.Template != "":
		return os.CopyFS(s.dataDir(), os.DirFS(s.commands.Template))
	case s.commands.Init == "":
		return nil
	}
	command := s.command(s.commands.Init)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("initialise the datadir: %w\n%s", err, output)
	}
	return nil
}

// Renew gives a server that has ended a datadir as new. What it had stays beside it: it may be the only copy of something.
func (s *Server) Renew() error {
	for number := 1; ; number++ {
		aside := fmt.Sprintf("%s.%d", s.dataDir(), number)
		if _, err := os.Stat(aside); err == nil {
			continue
		}
		if err := os.Rename(s.dataDir(), aside); err != nil {
			return err
		}
		return s.initialise()
	}
}

// given are the ports of this process's servers: the kernel knows of one only while its server runs.
var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// freePorts asks the kernel. It holds all of them until it has enough, so that they differ; and no other server has had one of them.
func freePorts(count int) ([]int, error) {
	given.Lock()
	defer given.Unlock()
	var ports []int
	for len(ports) < count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		if port := listener.Addr().(*net.TCPAddr).Port; !given.ports[port] {
			given.ports[port] = true
			ports = append(ports, port)
		}
	}
	return ports, nil
}

func (s *Server) dataDir() string { return filepath.Join(s.dir, "data") }
func (s *Server) tmpDir() string  { return filepath.Join(s.dir, "tmp") }

// LogFile holds everything the server has printed.
func (s *Server) LogFile() string { return filepath.Join(s.dir, "server.log") }

// DSN is the data source name for root, who has no password.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", s.port, database)
}

// Port is where clients connect.
func (s *Server) Port() int { return s.port }

// HTTPAddress is where the server answers /metrics, if it does.
func (s *Server) HTTPAddress() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.httpPort)) }

func (s *Server) command(template string) *exec.Cmd {
	values := strings.NewReplacer(
		"{datadir}", s.dataDir(), "{port}", strconv.Itoa(s.port), "{http_port}", strconv.Itoa(s.httpPort),
		"{socket}", filepath.Join(s.dir, "sock"), "{unsynced}", s.unsyncedDir())
	words := strings.Fields(template)
	for i := range words {
		words[i] = values.Replace(words[i])
	}
	command := exec.Command(words[0], words[1:]...)
	// MariaDB clears left-over files from the temporary directory: two servers must not share one.
	command.Env = append(os.Environ(), "TMPDIR="+s.tmpDir())
	for _, variable := range s.commands.Env {
		command.Env = append(command.Env, values.Replace(variable))
	}
	// The server must not outlive a checker that is killed.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

// Start starts the server, with more flags where there are some; clients find out by themselves when it answers.
func (s *Server) Start(flags ...string) error {
	output, err := os.OpenFile(s.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer output.Close()
	process := s.command(strings.Join(append([]string{s.commands.Run}, flags...), " "))
	process.Stdout, process.Stderr = output, output
	if err := process.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	exited := make(chan struct{})
	go func() {
		_ = process.Wait()
		close(exited)
	}()
	s.process, s.exited = process, exited
	return nil
}

// Exited is closed when the process that was started last has ended.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Ended says that the process that was started last has ended, and its last words; nil while it runs.
func (s *Server) Ended() error {
	select {
	case <-s.exited:
		return fmt.Errorf("the server has ended (%s), its log with: %s", s.process.ProcessState, s.lastWords())
	default:
		return nil
	}
}

func (s *Server) lastWords() string {
	text, err := os.ReadFile(s.LogFile())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// Process names the process that was started last.
func (s *Server) Process() string { return fmt.Sprintf("pid %d", s.process.Process.Pid) }

// Kill ends the process with SIGKILL and waits until it is gone. It fails when the process had ended by itself: then the
// kill proves nothing.
func (s *Server) Kill() error {
	select {
	case <-s.exited:
		return fmt.Errorf("the server had ended by itself (%s): see %s", s.process.ProcessState, s.LogFile())
	default:
	}
	if err := s.process.Process.Kill(); err != nil {
		return err
	}
	<-s.exited
	status, ok := s.process.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the server ended with %s instead of the kill: see %s", s.process.ProcessState, s.LogFile())
	}
	return nil
}

// Pause stops the process without ending it, and returns once it has stopped. Resume lets it go on.
func (s *Server) Pause() error {
	if err := s.process.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		state, err := s.State()
		if err != nil || state == "T" {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func (s *Server) Resume() error { return s.process.Process.Signal(syscall.SIGCONT) }

// State is the kernel's letter for what the process does: T is stopped.
func (s *Server) State() (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), ") ")
	if !found || rest == "" {
		return "", fmt.Errorf("/proc/%d/stat cannot be read: %q", s.process.Process.Pid, text)
	}
	return rest[:1], nil
}

// DataDir is where the server keeps its files.
func (s *Server) DataDir() string { return s.dataDir() }

// Stop asks the process to end and kills it when it does not.
func (s *Server) Stop(patience time.Duration) error {
	if s.process == nil {
		return nil
	}
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.exited:
		return nil
	case <-time.After(patience):
		return s.Kill()
	}
}

package dbserver_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"commitlab.dev/ledger/internal/dbserver/dbservertest"
)

// obeys accepts a connection, and then says what each expression is that it is given.
const obeys = `
import ctypes, os, resource, select, socket, sys, threading, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
peer, _ = listener.accept()
print("accepted", flush=True)
def refused(call):
    try: return call()
    except OSError as e: return type(e).__name__
def until_full():
    sent = 0
    while (more := refused(lambda: peer.send(b"x" * 65536))) != "BlockingIOError": sent += more
    return sent
def waited(seconds):
    c, until = ctypes.CDLL(None), time.time() + seconds
    condition, mutex, begun = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64), time.monotonic()
    c.pthread_mutex_lock(mutex)
    c.pthread_cond_timedwait(condition, mutex, (ctypes.c_long * 2)(int(until), int(until % 1 * 1e9)))
    return time.monotonic() - begun
for line in sys.stdin: print(eval(line), flush=True)
`

// machine is a process on a machine of which something may be wrong, and a connection to it.
type machine struct {
	process
	net.Conn
	port int
}

func (f forgetful) machine() machine {
	f.t.Helper()
	m := machine{process: f.python(obeys), port: f.port}
	var err error
	if m.Conn, err = net.Dial("tcp", "127.0.0.1:"+m.line()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = m.Conn.Close() })
	m.line()
	return m
}

func newMachine(t *testing.T) machine {
	t.Helper()
	return newForgetfulAt(t, dbservertest.FreePort(t)).machine()
}

func newForgetfulAt(t *testing.T, port int) forgetful {
	t.Helper()
	f := newForgetful(t, "POWERLOSS_PORT="+strconv.Itoa(port))
	f.port = port
	return f
}

// is what an expression is, in the process.
func (m machine) is(expression string) string {
	m.t.Helper()
	if _, err := io.WriteString(m.input, expression+"\n"); err != nil {
		m.t.Fatal(err)
	}
	return m.line()
}

func (m machine) expect(expression, want string) {
	m.t.Helper()
	if got := m.is(expression); got != want {
		m.t.Errorf("%s is %s instead of %s", expression, got, want)
	}
}

func (m machine) number(expression string) float64 {
	m.t.Helper()
	n, err := strconv.ParseFloat(m.is(expression), 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

func (m machine) tell(path string) { m.t.Helper(); ask(m.t, m.port, path) }

// count is what the machine says of itself.
func (m machine) count(name string) int64 {
	m.t.Helper()
	found := regexp.MustCompile(`\n` + name + ` (\d+)\n`).FindStringSubmatch(ask(m.t, m.port, "/metrics"))
	if found == nil {
		m.t.Fatalf("no %s", name)
	}
	n, err := strconv.ParseInt(found[1], 10, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return n
}

// read reads as much as is wanted, and says when it was there.
func (m machine) read(want string) time.Time {
	m.t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(m.Conn, got); err != nil || string(got) != want {
		m.t.Fatalf("%.40q instead of %.40q (%v)", got, want, err)
	}
	return time.Now()
}

// isSilent: nothing comes for a while.
func (m machine) isSilent() {
	m.t.Helper()
	if err := m.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		m.t.Fatal(err)
	}
	if n, err := m.Conn.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "timeout") {
		m.t.Errorf("%d bytes came (%v)", n, err)
	}
	if err := m.SetReadDeadline(time.Time{}); err != nil {
		m.t.Fatal(err)
	}
}

const (
	lost  = "/network?id=1&delay_ms=0&loss_percent=100&for_ms=3600000"
	whole = "/network?id=1&delay_ms=0&loss_percent=0&for_ms=0"
)

func TestWhatIsSentIsLateAndNobodyWaitsForIt(t *testing.T) {
	m := newMachine(t)
	m.tell("/network?id=7&delay_ms=300&loss_percent=0&for_ms=3600000")
	began := time.Now()
	m.expect(`peer.send(b"one ")`, "4")
	m.expect(`peer.sendmsg([b"t", b"wo"])`, "3")
	if took := time.Since(began); took > 250*time.Millisecond {
		t.Errorf("the process waited for %s", took)
	}
	if took := m.read("one two").Sub(began); took < 300*time.Millisecond {
		t.Errorf("it came after %s", took)
	}
	if id, late := m.count("powerloss_network_id"), m.count("powerloss_network_late_sends"); id != 7 || late != 2 {
		t.Errorf("trouble %d, %d late", id, late)
	}
	if _, err := m.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	m.expect(`peer.recv(5)`, "b'hello'")
}

func TestWhatIsLostIsSentAgainInOrder(t *testing.T) {
	m := newMachine(t)
	m.tell("/network?id=1&delay_ms=0&loss_percent=50&for_ms=3600000")
	began := time.Now()
	m.expect(`[peer.send(b"%03d," % n) for n in range(100)][-1]`, "4")
	var all strings.Builder
	for n := range 100 {
		fmt.Fprintf(&all, "%03d,", n)
	}
	if took := m.read(all.String()).Sub(began); took < 200*time.Millisecond {
		t.Errorf("it came after %s", took)
	}
	if late := m.count("powerloss_network_late_sends"); late < 25 || late > 75 {
		t.Errorf("%d of 100 were late", late)
	}
}

// Also where the process has closed the connection meanwhile, and its epoll knew of it.
func TestANetworkThatIsWholeAgainBringsAllAndThenTheEnd(t *testing.T) {
	m := newMachine(t)
	m.is(`[epoll := select.epoll(), epoll.register(peer, select.EPOLLIN | select.EPOLLET)]`)
	m.tell(lost)
	m.expect(`[peer.send(b"all"), peer.close()]`, "[3, None]")
	m.isSilent()
	if _, err := m.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	m.expect(`epoll.poll(0.1)`, "[]")
	m.tell(whole)
	m.read("all")
	if n, err := m.Conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes behind the end", n)
	}
}

func TestTheEndOfAStreamComesBehindWhatIsLate(t *testing.T) {
	m := newMachine(t)
	m.tell(lost)
	m.expect(`[peer.send(b"all"), peer.shutdown(socket.SHUT_WR), refused(lambda: peer.send(b"more"))]`, "[3, None, 'BrokenPipeError']")
	m.isSilent()
	if _, err := m.Write([]byte("heard")); err != nil {
		t.Fatal(err)
	}
	m.expect(`peer.recv(5)`, "b'heard'")
	m.tell(whole)
	m.read("all")
	if _, err := m.Conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v instead of the end", err)
	}
}

// No more is kept back than a kernel would take, and who waits for room is told of it once.
func TestWhoSendsTooMuchForALateNetworkWaits(t *testing.T) {
	m := newMachine(t)
	m.is(`[peer.setblocking(False), epoll := select.epoll(), epoll.register(peer, select.EPOLLIN | select.EPOLLET)]`)
	m.tell(lost)
	sent := int(m.number(`until_full()`))
	if sent < 1<<20 || sent > 8<<20 {
		t.Errorf("%d bytes are kept back", sent)
	}
	m.expect(`[epoll.modify(peer, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET), epoll.poll(0.1)]`, "[None, []]")
	m.tell(whole)
	all := make(chan error)
	go func() {
		_, err := io.CopyN(io.Discard, m.Conn, int64(sent))
		all <- err
	}()
	m.expect(`[event & select.EPOLLOUT for _, event in epoll.poll(10)]`, "[4]")
	if err := <-all; err != nil {
		t.Error(err)
	}
	m.expect(`peer.send(b"more")`, "4")
	m.read("more")
}

func TestABlockingSocketWaitsByItself(t *testing.T) {
	m := newMachine(t)
	m.tell(lost)
	m.is(`(sender := threading.Thread(target=lambda: [peer.send(b"x" * 65536) for n in range(100)]))`)
	m.is(`[sender.start(), time.sleep(0.2)]`)
	m.expect(`sender.is_alive()`, "True")
	m.tell(whole)
	m.read(strings.Repeat("x", 100*65536))
	m.expect(`[sender.join(10), sender.is_alive()]`, "[None, False]")
}

// What goes forward only is right, and who waits until a time waits as long as was meant.
func TestTheClockOfTheWallIsOff(t *testing.T) {
	m := newMachine(t)
	monotonic := m.number(`time.monotonic()`)
	m.tell("/clock?id=3&offset_ms=-600250&for_ms=3600000")
	for _, clock := range []string{"time.time()", "time.clock_gettime(5)", "ctypes.CDLL(None).time(None)"} {
		if off := float64(time.Now().UnixNano())/1e9 - m.number(clock); off < 600 || off > 630 {
			t.Errorf("%s is %f seconds late", clock, off)
		}
	}
	if went := m.number(`time.monotonic()`) - monotonic; went < 0 || went > 30 {
		t.Errorf("the other clock went %f seconds", went)
	}
	if waited := m.number(`waited(0.3)`); waited < 0.29 || waited > 30 {
		t.Errorf("it waited for %f seconds", waited)
	}
	if id, wrong := m.count("powerloss_clock_id"), m.count("powerloss_clock_wrong_answers"); id != 3 || wrong < 3 {
		t.Errorf("trouble %d, %d wrong answers", id, wrong)
	}
	m.tell("/clock?id=3&offset_ms=0&for_ms=0")
	if off := float64(time.Now().UnixNano())/1e9 - m.number(`time.time()`); off < -1 || off > 30 {
		t.Errorf("it is still %f seconds late", off)
	}
}

func TestProcessorsAreBusyForAWhile(t *testing.T) {
	const threads = `len(os.listdir("/proc/self/task"))`
	m := newMachine(t)
	before := m.is(threads)
	m.tell("/processors?id=4&threads=2&for_ms=300")
	for m.is(threads) != before { // it ends by itself
	}
	used := m.count("powerloss_processors_milliseconds")
	if took := 1000 * m.number(`sum(resource.getrusage(resource.RUSAGE_SELF)[:2])`); used < 1 || float64(used) > took || used > 630 {
		t.Errorf("%d ms were used, of %f of the process", used, took)
	}
}

func TestMemoryIsTakenForAWhile(t *testing.T) {
	const resident = `int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()`
	m := newMachine(t)
	before := m.number(resident)
	m.tell("/memory?id=5&bytes=67108864&for_ms=3600000")
	for m.count("powerloss_memory_bytes") < 64<<20 {
	}
	if more := m.number(resident) - before; more < 60<<20 {
		t.Errorf("%.0f bytes more", more)
	}
	m.tell("/memory?id=5&bytes=0&for_ms=0")
	for m.number(resident)-before > 10<<20 {
	}
}

// A machine outlives its processes; what a process did to it ends with it.
func TestTheNextProcessHasTheSameNetworkAndClock(t *testing.T) {
	f := newForgetfulAt(t, dbservertest.FreePort(t))
	m := f.machine()
	for _, trouble := range []string{lost, "/clock?id=2&offset_ms=-600000&for_ms=3600000", "/processors?id=3&threads=2&for_ms=3600000", "/memory?id=4&bytes=67108864&for_ms=3600000"} {
		m.tell(trouble)
	}
	m.kill()
	m = f.machine()
	m.expect(`peer.send(b"x")`, "1")
	m.isSilent()
	if off := float64(time.Now().UnixNano())/1e9 - m.number(`time.time()`); off < 590 {
		t.Errorf("its clock is %f seconds late", off)
	}
	if used := m.number(`resource.getrusage(resource.RUSAGE_SELF).ru_maxrss`); used > 48<<10 {
		t.Errorf("it has %f KiB", used)
	}
	m.expect(`len(os.listdir("/proc/self/task"))`, "3") // one for requests, one for the network
}

// A child has the library as well, and nothing is wrong with it.
func TestAChildHasNoTroubles(t *testing.T) {
	f := newForgetfulAt(t, dbservertest.FreePort(t))
	m := f.machine()
	m.tell("/clock?id=2&offset_ms=-600000&for_ms=3600000")
	child := exec.Command(python, "-c", "import time; print(int(time.time()))")
	child.Dir, child.Env = f.dir, f.env
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	if now, err := strconv.ParseInt(string(bytes.TrimSpace(out)), 10, 64); err != nil || time.Now().Unix()-now > 60 {
		t.Errorf("it says %s (%v)", out, err)
	}
}

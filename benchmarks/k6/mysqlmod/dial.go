package mysqlmod

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peerTimeout is how long the peer's kernel may leave data or a probe unanswered: a pod that is killed together with its network
// sends no reset, and its clients would hang for minutes. A server that merely takes its time still answers on this level.
const peerTimeout = time.Second

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout:         10 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: peerTimeout, Interval: peerTimeout, Count: 2},
		ControlContext: func(_ context.Context, network, _ string, socket syscall.RawConn) error {
			if network == "unix" {
				return nil
			}
			return setPeerTimeout(socket)
		},
	}
	return dialer.DialContext(ctx, network, address)
}

func setPeerTimeout(socket syscall.RawConn) error {
	var optionErr error
	err := socket.Control(func(fd uintptr) {
		optionErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(peerTimeout.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return optionErr
}

package server

import (
	"context"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peerTimeout is how long the peer's kernel may leave data or a probe unanswered. A pod that is killed together with its network
// sends no reset; without this a writer would wait for the statement's timeout, and the recovery time measured would be
// that timeout. A server that is alive and merely waits for acknowledgements still answers on this level.
const peerTimeout = time.Second

// dial connects with a peer that is noticed to be gone within about two peer timeouts.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
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

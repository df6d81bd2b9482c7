package replicaset

import (
	"io"
	"net"
	"sync"
	"time"
)

// proxy is what a Service is in a cluster: one address, behind which new connections reach whoever is the master then. Those that exist stay.
type proxy struct {
	listener net.Listener

	mu      sync.Mutex
	backend string
}

func newProxy() (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener}
	go p.serve()
	return p, nil
}

// pointTo sends new connections to the address; an empty one refuses them.
func (p *proxy) pointTo(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backend = address
}

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		backend := p.backend
		p.mu.Unlock()
		go forward(client, backend)
	}
}

func forward(client net.Conn, backend string) {
	defer client.Close()
	if backend == "" {
		return
	}
	server, err := net.DialTimeout("tcp", backend, time.Second)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		server.Close()
	}()
	_, _ = io.Copy(client, server)
}

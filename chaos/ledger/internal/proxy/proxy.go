// Package proxy is what a Service or a database proxy is elsewhere: one address that leads to whoever is the source then.
package proxy

import (
	"io"
	"net"
	"sync"
	"time"
)

// Proxy leads new connections to its backend. Those that exist stay, unless they are cut.
type Proxy struct {
	listener net.Listener

	mu      sync.Mutex
	backend string
	clients map[net.Conn]bool
}

// New listens on loopback, and refuses everybody until it is pointed somewhere.
func New() (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, clients: map[net.Conn]bool{}}
	go p.serve()
	return p, nil
}

// Address is where clients connect.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close takes no more connections.
func (p *Proxy) Close() error { return p.listener.Close() }

// PointTo sends new connections to the address; an empty one refuses them.
func (p *Proxy) PointTo(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backend = address
}

// CutOver ends the connections that exist when the address is another one than before, as a proxy does that knows what it carries.
func (p *Proxy) CutOver(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.backend != address {
		for client := range p.clients {
			client.Close()
		}
	}
	p.backend = address
}

func (p *Proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.forward(client)
	}
}

// admit says where a client is led to; it is known from then on, so that no cut misses it.
func (p *Proxy) admit(client net.Conn) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clients[client] = true
	return p.backend
}

func (p *Proxy) leave(client net.Conn) {
	client.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.clients, client)
}

func (p *Proxy) forward(client net.Conn) {
	defer p.leave(client)
	backend := p.admit(client)
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

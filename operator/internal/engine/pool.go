package engine

import "sync"

// Target says how to reach one server.
type Target struct {
	// Name identifies the server for good, whatever its address.
	Name     string
	Address  string
	Port     int32
	Password string
	TLS      TLS
}

// TLS is how a server and its client know each other, in PEM; the zero value is none.
type TLS struct {
	Certificate, Key, Authorities string
	// ServerName is what the server's certificate must be for.
	ServerName string
}

// Connector finds the server behind a target.
type Connector interface {
	Connect(Target) (Server, error)
	// Forget lets go of the servers whose names keep rejects.
	Forget(keep func(name string) bool)
}

// Pool keeps one client for each server and makes a new one when the address, the password or a certificate changes.
type Pool struct {
	mu      sync.Mutex
	clients map[string]pooled
}

type pooled struct {
	target Target
	client *Client
}

var _ Connector = (*Pool)(nil)

// NewPool makes an empty pool.
func NewPool() *Pool { return &Pool{clients: map[string]pooled{}} }

// Connect finds or makes the client for a target.
func (p *Pool) Connect(t Target) (Server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.clients[t.Name]; ok {
		if known.target == t {
			return known.client, nil
		}
		_ = known.client.Close()
		delete(p.clients, t.Name)
	}
	client, err := Dial(t)
	if err != nil {
		return nil, err
	}
	p.clients[t.Name] = pooled{target: t, client: client}
	return client, nil
}

// Forget closes the clients of servers that keep rejects.
func (p *Pool) Forget(keep func(name string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, known := range p.clients {
		if !keep(name) {
			_ = known.client.Close()
			delete(p.clients, name)
		}
	}
}

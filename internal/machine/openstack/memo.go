package openstack

import (
	"sync"
	"time"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// memoTTL is how long a look-up is remembered. MCM asks for a machine's status right before it has the machine created.
const memoTTL = 10 * time.Second

// memo holds what the look-up of a machine's servers has found until the machine is created, which needs the same answer. Each entry
// serves once and is forgotten after seconds.
type memo struct {
	mu      sync.Mutex
	entries map[string]memoEntry
}

type memoEntry struct {
	servers []cloudopenstack.Server
	at      time.Time
}

func (m *memo) put(name string, servers []cloudopenstack.Server) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for old, entry := range m.entries {
		if now.Sub(entry.at) > memoTTL {
			delete(m.entries, old)
		}
	}
	if m.entries == nil {
		m.entries = map[string]memoEntry{}
	}
	m.entries[name] = memoEntry{servers: servers, at: now}
}

// take returns what is remembered of a name, and forgets it.
func (m *memo) take(name string) ([]cloudopenstack.Server, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[name]
	delete(m.entries, name)
	return entry.servers, ok && time.Since(entry.at) <= memoTTL
}

package openstack

import (
	"sync"
	"time"

	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// memoTTL is how long a look-up is kept. MCM requests a machine's status right before its creation.
const memoTTL = 10 * time.Second

// memo keeps the result of looking up a machine's servers until its creation, which needs the same result. Each entry
// is used once and expires after seconds.
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

// take returns the entry of a name, and removes it.
func (m *memo) take(name string) ([]cloudopenstack.Server, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry, ok := m.entries[name]
	delete(m.entries, name)
	return entry.servers, ok && time.Since(entry.at) <= memoTTL
}

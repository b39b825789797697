package openstack

import (
	"maps"
	"sync"
	"time"
)

// externalNetworkMaxAge is how long a found external network is remembered.
const externalNetworkMaxAge = 10 * time.Minute

// externalNetworks are an account's external networks that were found lately, by what the caller calls them: a name, a pattern, an ID. Only
// an operator of the cloud changes external networks, and all shoots of an account use the same few.
type externalNetworks struct {
	mu    sync.Mutex
	found map[string]foundNetwork
}

type foundNetwork struct {
	network Network
	at      time.Time
}

// RecentExternalNetwork returns the network that RememberExternalNetwork was called with in the last ten minutes. It may have been changed or deleted since: a
// caller that is refused calls ForgetExternalNetwork and looks it up.
func (s *Session) RecentExternalNetwork(name string) (Network, bool) {
	s.external.mu.Lock()
	defer s.external.mu.Unlock()
	recent, ok := s.external.found[name]
	if !ok || time.Since(recent.at) >= externalNetworkMaxAge {
		return Network{}, false
	}
	return recent.network, true
}

// RememberExternalNetwork remembers the external network of a name that the cloud has just listed.
func (s *Session) RememberExternalNetwork(name string, network Network) {
	s.external.mu.Lock()
	defer s.external.mu.Unlock()
	now := time.Now()
	if s.external.found == nil {
		s.external.found = map[string]foundNetwork{}
	}
	maps.DeleteFunc(s.external.found, func(_ string, one foundNetwork) bool { return now.Sub(one.at) >= externalNetworkMaxAge })
	s.external.found[name] = foundNetwork{network: network, at: now}
}

// ForgetExternalNetwork forgets the external network of a name.
func (s *Session) ForgetExternalNetwork(name string) {
	s.external.mu.Lock()
	defer s.external.mu.Unlock()
	delete(s.external.found, name)
}

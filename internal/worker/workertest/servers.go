package workertest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Servers are what machines are in the cloud of the simulation. They outlive the seeds of their shoot.
type Servers struct {
	mutex sync.Mutex
	// byID holds the name of the machine that a server was made for.
	byID   map[string]string
	serial int
	// lost are servers that were removed because no Machine told of them: what a user would call an outage.
	lost []string
	// drained are those whose machines were not told to go by force.
	drained []string
}

// NewServers returns an empty cloud.
func NewServers() *Servers { return &Servers{byID: map[string]string{}} }

// next numbers whatever needs a name of its own.
func (s *Servers) next() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.serial++
	return s.serial
}

// ensure returns the server of a machine, and makes it if there is none.
func (s *Servers) ensure(machine string) (id string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for id, name := range s.byID {
		if name == machine {
			return id
		}
	}
	s.serial++
	id = fmt.Sprintf("yard:///%d", s.serial)
	s.byID[id] = machine
	return id
}

// removeFor removes the server of a machine. A machine that goes without force has its node drained before.
func (s *Servers) removeFor(machine string, forced bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !forced {
		s.drained = append(s.drained, machine)
	}
	maps.DeleteFunc(s.byID, func(_, name string) bool { return name == machine })
}

// collectOrphans removes the servers of unknown machines.
func (s *Servers) collectOrphans(known func(machine string) bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	maps.DeleteFunc(s.byID, func(_, name string) bool {
		if !known(name) {
			s.lost = append(s.lost, name)
			return true
		}
		return false
	})
}

// All returns IDs and names of all servers.
func (s *Servers) All() map[string]string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return maps.Clone(s.byID)
}

// Lost returns the machines whose servers were removed because no Machine told of them.
func (s *Servers) Lost() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.lost)
}

// Drained returns the machines whose nodes were drained before they went.
func (s *Servers) Drained() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.drained)
}

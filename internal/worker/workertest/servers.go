package workertest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Servers are the machines in the simulated cloud. They exist independently of the seeds of their shoot.
type Servers struct {
	mutex sync.Mutex
	// byID has the name of the machine for which a server was created.
	byID   map[string]string
	serial int
	// lost are servers that were removed because they had no Machine, which is an outage for users.
	lost []string
	// drained are servers of machines without the label for force deletion.
	drained []string
}

// NewServers returns an empty cloud.
func NewServers() *Servers { return &Servers{byID: map[string]string{}} }

// next numbers servers.
func (s *Servers) next() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.serial++
	return s.serial
}

// ensure returns the server of a machine, and creates it if there is none.
func (s *Servers) ensure(machine string) (id string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for id, name := range s.byID {
		if name == machine {
			return id
		}
	}
	s.serial++
	id = fmt.Sprintf("example:///%d", s.serial)
	s.byID[id] = machine
	return id
}

// removeFor removes the server of a machine. The node of a machine without the label for force deletion is drained before.
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

// Lost returns the machines whose servers were removed because they had no Machine.
func (s *Servers) Lost() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.lost)
}

// Drained returns the machines whose nodes were drained before their deletion.
func (s *Servers) Drained() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.drained)
}

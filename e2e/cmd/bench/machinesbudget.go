package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

const (
	// callsPerMachine is the budget of one: its port, its server, and its share of the look-ups and polls.
	callsPerMachine = 3
	// loginsOfMachines is the budget of all together.
	loginsOfMachines = 1
)

// The calls that change the cloud for machines.
const (
	createsPort   = "neutron POST /v2.0/ports"
	createsServer = "nova POST /v2.1/servers"
	deletesPort   = "neutron DELETE /v2.0/ports/{id}"
	deletesServer = "nova DELETE /v2.1/servers/{id}"
)

// machineBudgetLines compare the measured costs with the budget.
func machineBudgetLines(created cost) []string {
	servers := created.log.Count()[createsServer]
	lines := []string{
		"",
		fmt.Sprintf("%.2f calls per server, at most %d besides deletions; logins: %d, at most %d; %s from the request until all have joined",
			float64(created.calls)/float64(max(servers, 1)), callsPerMachine, created.logins, loginsOfMachines, inSeconds(created.wall)),
	}
	if servers > machines {
		lines = append(lines, fmt.Sprintf("machine-controller-manager created %s too many, when its cache was behind, and deleted what it did not need",
			count(servers-machines, "Machine")))
	}
	return lines
}

// withinBudget fails if the creation of machines by the driver exceeds the budget, or they were created twice.
func withinBudget(calls wire.Calls) error {
	return errors.Join(withinCallsAndLogins(calls, machines), onceEach(calls, machines, createsPort, createsServer))
}

// withinManagedBudget fails if the creation of machines by machine-controller-manager exceeds the budget, or if not each port and each server of their whole life
// was deleted. When its cache is behind, it creates more Machines than it was asked for, and deletes them: the budget is that of a server, besides deletions.
func withinManagedBudget(created, life wire.Calls) error {
	servers := max(machines, created.Count()[createsServer])
	creates := slices.DeleteFunc(slices.Clone(created), func(c wire.Call) bool { return c.Method == http.MethodDelete })
	return errors.Join(withinCallsAndLogins(creates, servers),
		onceEach(life, life.Count()[createsServer], createsPort, deletesServer, deletesPort))
}

func withinCallsAndLogins(calls wire.Calls, machines int) error {
	var failures []error
	if len(calls) > callsPerMachine*machines {
		failures = append(failures, fmt.Errorf("%d machines cost %d calls, at most %d for each are allowed", machines, len(calls), callsPerMachine))
	}
	if logins := calls.Logins(); logins > loginsOfMachines {
		failures = append(failures, fmt.Errorf("%d machines cost %d logins, at most %d are allowed", machines, logins, loginsOfMachines))
	}
	return errors.Join(failures...)
}

// onceEach fails if a number of machines did not cost each of the calls exactly once.
func onceEach(calls wire.Calls, machines int, names ...string) error {
	var failures []error
	count := calls.Count()
	for _, name := range names {
		if count[name] != machines {
			failures = append(failures, fmt.Errorf("%d machines cost %d times %s", machines, count[name], name))
		}
	}
	return errors.Join(failures...)
}

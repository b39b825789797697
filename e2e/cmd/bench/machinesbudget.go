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
func machineBudgetLines(created cost, objects int) []string {
	servers := created.log.Count()[createsServer]
	lines := []string{
		"",
		fmt.Sprintf("%.2f calls per server besides deletions, at most %d; logins: %d, at most %d; %s from the request until all have joined",
			float64(len(withoutDeletions(created.log)))/float64(max(servers, 1)), callsPerMachine, created.logins, loginsOfMachines, inSeconds(created.wall)),
	}
	if objects > machines {
		lines = append(lines, fmt.Sprintf("machine-controller-manager created %s too many, when its cache was behind, and deleted what it did not need",
			count(objects-machines, "Machine")))
	}
	return lines
}

// withinBudget fails if the creation or the deletion of machines by the driver exceeds the budget, or if not each machine was created or deleted once.
func withinBudget(calls wire.Calls) error {
	changes := []string{createsPort, createsServer}
	if calls.Count()[deletesServer] > 0 {
		changes = []string{deletesPort, deletesServer}
	}
	return errors.Join(withinCallsAndLogins(calls, machines), onceEach(calls, machines, changes...))
}

// withinManagedBudget fails if the creation of machines by machine-controller-manager exceeds the budget, or if a number of Machines has got more servers. When its
// cache is behind, it creates more Machines than it was asked for, and deletes them, some before they have a server: the budget is that of a server, besides deletions.
func withinManagedBudget(created wire.Calls, objects int) error {
	servers := created.Count()[createsServer]
	var failure error
	if servers < machines || servers > objects {
		failure = fmt.Errorf("%d servers were created for %d Machines, at least %d were wanted", servers, objects, machines)
	}
	return errors.Join(failure, withinCallsAndLogins(withoutDeletions(created), servers), onceEach(created, servers, createsPort))
}

func withoutDeletions(calls wire.Calls) wire.Calls {
	return slices.DeleteFunc(slices.Clone(calls), func(c wire.Call) bool { return c.Method == http.MethodDelete })
}

func withinCallsAndLogins(calls wire.Calls, servers int) error {
	var failures []error
	if len(calls) > callsPerMachine*servers {
		failures = append(failures, fmt.Errorf("%d machines cost %d calls, at most %d for each are allowed", servers, len(calls), callsPerMachine))
	}
	if logins := calls.Logins(); logins > loginsOfMachines {
		failures = append(failures, fmt.Errorf("%d machines cost %d logins, at most %d are allowed", servers, logins, loginsOfMachines))
	}
	return errors.Join(failures...)
}

// onceEach fails if a number of servers did not cost each of the calls exactly once.
func onceEach(calls wire.Calls, servers int, names ...string) error {
	var failures []error
	times := calls.Count()
	for _, name := range names {
		if times[name] != servers {
			failures = append(failures, fmt.Errorf("%d machines cost %d times %s", servers, times[name], name))
		}
	}
	return errors.Join(failures...)
}

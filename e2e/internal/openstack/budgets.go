package openstack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

// Programs of ours that call the cloud besides MachineController, by their containers.
const (
	InfrastructureController = "gardener-extension-infrastructure"
	ControlPlaneController   = "gardener-extension-controlplane"
	WorkerController         = "gardener-extension-worker"
)

// Budgets of calls of an OpenStack, of warm sessions, without logins (docs/performance).
const (
	// callsPerCreate is what the first reconciliation of an Infrastructure may cost, with tags that cannot go into the create.
	callsPerCreate = 14
	// callsPerRepeat is what a later one may cost, and callsPerDelete a deletion.
	callsPerRepeat, callsPerDelete = 6, 11
	// callsPerMachine is what a new machine may cost, and what a deleted one, without polls: machines under way share one list, again and again.
	// callsPerStart is what a machine controller looks up once.
	callsPerMachine, callsPerStart = 4, 4
	// callsOfWorker is what one reconciliation of a Worker may cost, of a ControlPlane none.
	callsOfWorker, callsOfControlPlane = 8, 4

	createServer = "nova POST /v2.1/servers"
	pollServers  = "nova GET /v2.1/servers/detail"
)

// Work is what a program did in a step.
type Work struct {
	// Created, Deleted and Repeated count reconciliations of Infrastructures.
	Created, Deleted, Repeated int
	// Workers and ControlPlanes count reconciliations.
	Workers, ControlPlanes int
	// MachinesCreated and MachinesDeleted count machines.
	MachinesCreated, MachinesDeleted int
	// Started counts starts of processes, by program. Each logs in once for each account.
	Started map[string]int
	// Accounts is the number of accounts.
	Accounts int
	// Additional are calls for what no budget knows, by program.
	Additional map[string]int
}

// ByProgram sorts calls by the program that made them, empty for unknown clients. A client's address is that of its pod.
func ByProgram(calls wire.Calls, programOf func(client string) string) map[string]wire.Calls {
	sorted := map[string]wire.Calls{}
	for _, call := range calls {
		program := programOf(call.Client)
		sorted[program] = append(sorted[program], call)
	}
	return sorted
}

// OverBudget compares the calls of our programs with the budgets of what they did. Other programs have none.
func OverBudget(sorted map[string]wire.Calls, work Work) []string {
	limits := map[string]int{
		InfrastructureController: callsPerCreate*work.Created + callsPerDelete*work.Deleted + callsPerRepeat*work.Repeated,
		WorkerController:         callsOfWorker * work.Workers,
		ControlPlaneController:   callsOfControlPlane * work.ControlPlanes,
		MachineController:        callsPerMachine*(work.MachinesCreated+work.MachinesDeleted) + callsPerStart*(work.Started[MachineController]+1),
	}
	var wrong []string
	for program, calls := range work.Additional {
		limits[program] += calls
	}
	for _, program := range slices.Sorted(maps.Keys(limits)) {
		calls := sorted[program].Where(func(c wire.Call) bool { return program != MachineController || c.Name() != pollServers })
		logins := calls.Logins()
		if most := (work.Started[program] + 1) * work.Accounts; logins > most {
			wrong = append(wrong, fmt.Sprintf("%s logged in %d times, at most %d are allowed", program, logins, most))
		}
		if made := len(calls) - logins; made > limits[program] {
			wrong = append(wrong, fmt.Sprintf("%s made %d calls, at most %d are allowed: %s", program, made, limits[program], summary(calls)))
		}
	}
	count := sorted[MachineController].Count()
	if count[createServer] > work.MachinesCreated {
		wrong = append(wrong, fmt.Sprintf("%d servers were created for %d machines", count[createServer], work.MachinesCreated))
	}
	return wrong
}

// summary is the counts of calls in one line.
func summary(calls wire.Calls) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(calls.Summary(), "\n", ", ")), " ")
}

// CountByProgram counts calls. Those of unknown clients are those of others.
func CountByProgram(sorted map[string]wire.Calls) map[string]int {
	counts := map[string]int{}
	for program, calls := range sorted {
		if program == "" {
			program = "others"
		}
		counts[program] += len(calls)
	}
	return counts
}

package openstack

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/go-logr/logr"

	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
	machineprocess "github.com/trellis-garden/trellis/internal/machine"
)

// taskDeleting is the task state of a server that is being deleted.
const taskDeleting = "deleting"

// machine is one machine during one request.
type machine struct {
	class   *class
	account *account
	// ids are the IDs of the resources that the class refers to by name.
	ids  *idLookup
	log  logr.Logger
	poll time.Duration

	name string
	// serverID is the ID of the server that MCM has recorded for the machine, empty if there is none.
	serverID string
	// known is true if MCM has recorded the machine's server, or deletes the machine.
	known bool
	// orphan is true if MCM deletes one server only: one without a Machine, or a duplicate.
	orphan bool
	// hasDuplicates is true if there is another server with the machine's name that is kept.
	hasDuplicates bool
}

// status returns the machine's server. It keeps the result for the creation, which MCM requests next if there is no server.
func (m *machine) status(ctx context.Context) (cloudopenstack.Server, error) {
	servers, err := m.findServers(ctx)
	if err != nil {
		return cloudopenstack.Server{}, err
	}
	server, found := m.choose(servers)
	if found && (m.known || isComplete(server)) {
		return server, nil
	}
	m.account.statuses.Put(m.name, servers)
	return cloudopenstack.Server{}, machineprocess.Failuref(codes.NotFound, "there is no complete server for it")
}

// isComplete reports whether a server has been built.
func isComplete(server cloudopenstack.Server) bool {
	return server.Status != cloudopenstack.ServerBuild && server.Status != cloudopenstack.ServerError && server.TaskState != taskDeleting
}

// findServers returns all servers with the machine's name, the shoot's or not, and the one that MCM has recorded for the machine, even if it has another name.
func (m *machine) findServers(ctx context.Context) ([]cloudopenstack.Server, error) {
	servers, err := m.account.servers.Find(ctx, m.name, m.poll/machineprocess.LookUpDelayDivisor)
	if err != nil {
		return nil, err
	}
	servers = slices.DeleteFunc(servers, isDeleted)
	if m.serverID == "" || slices.ContainsFunc(servers, m.isKnown) {
		return servers, nil
	}
	known, err := m.account.GetServer(ctx, m.serverID)
	switch {
	case cloud.IsNotFound(err):
		return servers, nil
	case err != nil:
		return nil, err
	case isDeleted(known):
		return servers, nil
	}
	return append(servers, known), nil
}

func (m *machine) isKnown(server cloudopenstack.Server) bool { return server.ID == m.serverID }

// isDeleted reports whether a server was deleted, although the cloud still lists it.
func isDeleted(server cloudopenstack.Server) bool {
	return server.Status == cloudopenstack.ServerDeleted || server.Status == cloudopenstack.ServerSoftDeleted
}

// own returns the servers with the shoot's tags.
func (m *machine) own(servers []cloudopenstack.Server) []cloudopenstack.Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s cloudopenstack.Server) bool { return !m.class.owns(s) })
}

// choose returns the machine's server. There may be several if a request took effect after its timeout: then it prefers the one that MCM has recorded, or a
// complete one. MCM deletes the others, since they have no Machine.
func (m *machine) choose(servers []cloudopenstack.Server) (cloudopenstack.Server, bool) {
	own := m.own(servers)
	if len(own) == 0 {
		return cloudopenstack.Server{}, false
	}
	rank := func(s cloudopenstack.Server) int {
		switch {
		case m.isKnown(s):
			return 0
		case s.TaskState == taskDeleting:
			return 4
		case s.Status == cloudopenstack.ServerActive:
			return 1
		case s.Status == cloudopenstack.ServerError:
			return 3
		default:
			return 2
		}
	}
	// Nova lists the newest first: of equals, the last is the oldest.
	slices.Reverse(own)
	slices.SortStableFunc(own, func(a, b cloudopenstack.Server) int { return cmp.Compare(rank(a), rank(b)) })
	return own[0], true
}

// list returns the shoot's servers. The names of machines begin with the shoot's name, unless another controller has created the class.
func (m *machine) list(ctx context.Context, class string) ([]cloudopenstack.Server, error) {
	prefix := m.class.technicalID() + "-"
	if !strings.HasPrefix(class, prefix) {
		prefix = ""
	}
	servers, err := m.account.ListServers(ctx, cloudopenstack.ServerFilter{NamePrefix: prefix})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(m.own(servers), func(s cloudopenstack.Server) bool { return isDeleted(s) || s.TaskState == taskDeleting }), nil
}

// waitForServer polls until the condition is true for the machine's server with this ID, and returns it. nil stands for a deleted server. All waiting machines
// share the polls. times are of the same kind of wait.
func (m *machine) waitForServer(
	ctx context.Context, id string, times *machineprocess.WaitTimes, done func(*cloudopenstack.Server) bool,
) (*cloudopenstack.Server, error) {
	look := func(ctx context.Context, maxWait time.Duration) (*cloudopenstack.Server, error) {
		servers, err := m.account.servers.Find(ctx, m.name, maxWait)
		if i := slices.IndexFunc(servers, func(s cloudopenstack.Server) bool { return s.ID == id && !isDeleted(s) }); i >= 0 {
			return &servers[i], err
		}
		return nil, err
	}
	return machineprocess.Poll(ctx, m.poll, times, look, done)
}

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
)

// taskDeleting is the task state of a server that goes.
const taskDeleting = "deleting"

// machine is one machine while something is done about it.
type machine struct {
	class   *class
	account *account
	// ids are the IDs of what the class refers to by name.
	ids  *idLookup
	log  logr.Logger
	poll time.Duration

	name string
	// serverID is that of the server which MCM knows as the machine's; empty when it knows none.
	serverID string
	// known machines have been handed over to MCM, or are on their way out.
	known bool
	// orphan says that MCM wants to be rid of one server only: one that no Machine stands for, or of which there are two.
	orphan bool
	// hasDuplicates says that another server by the machine's name stays.
	hasDuplicates bool
}

// status returns the machine's server. What it has found is there for the creation, which MCM asks for next if there is none.
func (m *machine) status(ctx context.Context) (cloudopenstack.Server, error) {
	servers, err := m.findServers(ctx)
	if err != nil {
		return cloudopenstack.Server{}, err
	}
	server, found := m.choose(servers)
	if found && (m.known || isComplete(server)) {
		return server, nil
	}
	m.account.statuses.put(m.name, servers)
	return cloudopenstack.Server{}, failuref(codes.NotFound, "there is no complete server for it")
}

// isComplete reports whether a server has been built.
func isComplete(server cloudopenstack.Server) bool {
	return server.Status != cloudopenstack.ServerBuild && server.Status != cloudopenstack.ServerError && server.TaskState != taskDeleting
}

// lookupDelayDivisor is the part of the interval between polls for which a look-up waits for others: machines come in numbers, but one by one.
const lookupDelayDivisor = 60

// findServers returns all servers by the machine's name, the shoot's or not, and the one that MCM knows as the machine's even if it goes
// by another name.
func (m *machine) findServers(ctx context.Context) ([]cloudopenstack.Server, error) {
	servers, err := m.account.servers.find(ctx, m.name, m.poll/lookupDelayDivisor)
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

// isDeleted reports whether a server is no more, although the cloud still lists it.
func isDeleted(server cloudopenstack.Server) bool {
	return server.Status == cloudopenstack.ServerDeleted || server.Status == cloudopenstack.ServerSoftDeleted
}

// own returns the servers among these that carry the shoot's tags.
func (m *machine) own(servers []cloudopenstack.Server) []cloudopenstack.Server {
	return slices.DeleteFunc(slices.Clone(servers), func(s cloudopenstack.Server) bool { return !m.class.owns(s) })
}

// choose returns the machine's server. There is more than one when a request was so late that nobody waited for it any more: then the one
// that MCM knows counts, or one that is complete. MCM finds that no Machine stands for the others, and has them removed.
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

// list returns the shoot's servers. The names of machines begin with the shoot's unless somebody else has made the class.
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

// maxFailedPolls is how many polls may fail in a row, each of which the session has repeated.
const maxFailedPolls = 4

// isTransient reports whether another call may succeed where one has failed.
func isTransient(err error) bool {
	kind := cloud.KindOf(err)
	return kind == cloud.Unavailable || kind == cloud.RateLimited
}

// waitForServer polls until something is true of the machine's server with this ID, and returns it as it is then. nil stands for a server that is gone.
// All machines that wait share the polls, and a few that fail in a row do no harm.
func (m *machine) waitForServer(ctx context.Context, id string, done func(*cloudopenstack.Server) bool) (*cloudopenstack.Server, error) {
	for failures := 0; ; {
		servers, err := m.account.servers.find(ctx, m.name, m.poll)
		if err != nil {
			if failures++; failures > maxFailedPolls || ctx.Err() != nil || !isTransient(err) {
				return nil, err
			}
			continue
		}
		failures = 0
		var server *cloudopenstack.Server
		if i := slices.IndexFunc(servers, func(s cloudopenstack.Server) bool { return s.ID == id && !isDeleted(s) }); i >= 0 {
			server = &servers[i]
		}
		if done(server) {
			return server, nil
		}
	}
}

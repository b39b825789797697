package openstack

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// The statuses of a server on which callers depend.
const (
	ServerActive      = "ACTIVE"
	ServerBuild       = "BUILD"
	ServerError       = "ERROR"
	ServerShutoff     = "SHUTOFF"
	ServerDeleted     = "DELETED"
	ServerSoftDeleted = "SOFT_DELETED"
	ServerUnknown     = "UNKNOWN"
)

// Server is a Nova server.
type Server struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	Status           string            `json:"status"`
	TaskState        string            `json:"OS-EXT-STS:task_state"` // e.g. deleting; empty if there is no task
	HostID           string            `json:"hostId"`                // identifies a host without its name; empty before there is one
	AvailabilityZone string            `json:"OS-EXT-AZ:availability_zone"`
	Metadata         map[string]string `json:"metadata"`
	Fault            *ServerFault      `json:"fault"` // the reason of the status ERROR; complete only from GetServer
	Volumes          []AttachedVolume  `json:"os-extended-volumes:volumes_attached"`
	Flavor           ServerFlavor      `json:"flavor"`
	// Addresses are those of its ports, by the name of the network. A server that is being built may have none.
	Addresses map[string][]ServerAddress `json:"addresses"`
}

// ServerFlavor refers to the flavor of a server. Before microversion 2.47 it is the flavor's ID.
type ServerFlavor struct {
	ID string `json:"id"`
}

// ServerAddress is an IP address of a server.
type ServerAddress struct {
	Address string `json:"addr"`
	Type    string `json:"OS-EXT-IPS:type"` // AddressFixed or AddressFloating
}

// The types of a server's addresses.
const (
	AddressFixed    = "fixed"
	AddressFloating = "floating"
)

// ServerFault is the error of a server, in Nova's text.
type ServerFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// UnmarshalJSON decodes a fault. Its message may contain a stack trace.
func (f *ServerFault) UnmarshalJSON(data []byte) error {
	type plain ServerFault
	if err := json.Unmarshal(data, (*plain)(f)); err != nil {
		return err
	}
	f.Message = truncate.Line(f.Message, truncate.MaxExternal)
	return nil
}

// AttachedVolume is a Cinder volume of a server.
type AttachedVolume struct {
	ID                  string `json:"id"`
	DeleteOnTermination bool   `json:"delete_on_termination"` // Nova deletes it with the server
}

// ServerFilter selects servers of the session's project; all given criteria must match. A server may have further
// metadata.
type ServerFilter struct {
	Name, NamePrefix string
	Metadata         map[string]string
}

// serversMicroversion is the version of reads of servers: the first which reports whether a volume is deleted with its server. Every Nova since
// Kilo supports it. Newer ones add nothing that is read here.
const serversMicroversion = "2.3"

// serversPage is the number of servers in a page. Administrators get the user data of each, of up to 64 KiB, so that Nova's default of
// a thousand would exceed the limit of a response. A hundred machines fit into one page: after a full page, Nova always links to another one.
const serversPage = 110

func (s *Session) servers() resource[Server] {
	return resource[Server]{
		session: s, service: computeService, microversion: serversMicroversion,
		path: "servers", detail: "/detail", singular: "server", plural: "servers", pageSize: serversPage, decodedSize: Server.decodedSize,
	}
}

// decodedSize is the approximate size of a decoded server in bytes. It does not include its user data.
func (s Server) decodedSize() int {
	const perServer, perValue = 512, 64
	size := perServer + len(s.ID) + len(s.Name) + len(s.Status) + len(s.TaskState) + len(s.HostID) + len(s.AvailabilityZone) + len(s.Flavor.ID)
	for key, value := range s.Metadata {
		size += perValue + len(key) + len(value)
	}
	if s.Fault != nil {
		size += perValue + len(s.Fault.Message)
	}
	for _, volume := range s.Volumes {
		size += perValue + len(volume.ID)
	}
	for network, addresses := range s.Addresses {
		size += perValue + len(network)
		for _, address := range addresses {
			size += perValue + len(address.Address) + len(address.Type)
		}
	}
	return size
}

// ListServers returns the servers that match the filter. The list lacks the fault of a server that never ran on a host.
func (s *Session) ListServers(ctx context.Context, filter ServerFilter) ([]Server, error) {
	return s.servers().list(ctx, filter)
}

// GetServer returns a server. It fails with cloud.NotFound when there is none.
func (s *Session) GetServer(ctx context.Context, id string) (Server, error) {
	return s.servers().get(ctx, id)
}

// DeleteServer starts the deletion of a server, which is complete when GetServer does not find it any more. It fails with cloud.NotFound if
// there is none. A port that was passed to the server is kept; one that Nova created for it is deleted, and so are its volumes.
func (s *Session) DeleteServer(ctx context.Context, id string) error {
	return s.servers().remove(ctx, id, nil)
}

// query filters the list as far as Nova can: it interprets a name as a regular expression, in which case does not
// matter. In some clouds only operators may filter by metadata, so matches does that.
func (f ServerFilter) query() url.Values {
	q := query{}
	switch {
	case f.Name != "":
		q.text("name", "^"+quoteRegexp(f.Name)+"$")
	case f.NamePrefix != "":
		q.text("name", "^"+quoteRegexp(f.NamePrefix))
	}
	return url.Values(q)
}

// quoteRegexp returns an expression that matches only a text, for any database of Nova. Nova adds a
// backslash before each bar, which must not follow another one.
func quoteRegexp(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(text), `\|`, "[|]")
}

func (f ServerFilter) matches(s Server) bool {
	for key, value := range f.Metadata {
		if has, ok := s.Metadata[key]; !ok || has != value {
			return false
		}
	}
	return emptyOrEqual(f.Name, s.Name) && strings.HasPrefix(s.Name, f.NamePrefix)
}

package openstack

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"

	"github.com/trellis-garden/trellis/internal/truncate"
)

// What a server can be, as far as it matters to those who make and delete servers.
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
	TaskState        string            `json:"OS-EXT-STS:task_state"` // e.g. deleting; empty when nothing is under way
	HostID           string            `json:"hostId"`                // tells hosts apart without naming them; empty before there is one
	AvailabilityZone string            `json:"OS-EXT-AZ:availability_zone"`
	Metadata         map[string]string `json:"metadata"`
	Fault            *ServerFault      `json:"fault"` // why the status is ERROR; only GetServer can be relied on for it
	Volumes          []AttachedVolume  `json:"os-extended-volumes:volumes_attached"`
	// Addresses are those of its ports, by the name of the network. A server that is being built may have none yet.
	Addresses map[string][]ServerAddress `json:"addresses"`
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

// ServerFault is what went wrong with a server, in Nova's words for people.
type ServerFault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// UnmarshalJSON reads a fault. Its message may hold the trace of a program.
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

// ServerFilter selects servers of the session's project; all given criteria must match. A server may have more metadata than
// asked for.
type ServerFilter struct {
	Name, NamePrefix string
	Metadata         map[string]string
}

// serversMicroversion is that of looks at servers: the first which tells whether a volume goes with its server. Every Nova since
// Kilo knows it. A newer one would tell nothing that is read here.
const serversMicroversion = "2.3"

// serversPage is how many servers a page has. Administrators are shown the user data of each, of up to 64 KiB, so that a page of a thousand, as
// Nova makes without being asked, could not be read. A hundred machines are one page and no more: Nova promises another one after each full page.
const serversPage = 110

func (s *Session) servers() resource[Server] {
	return resource[Server]{
		session: s, service: computeService, microversion: serversMicroversion,
		path: "servers", detail: "/detail", singular: "server", plural: "servers", pageSize: serversPage, decodedSize: Server.decodedSize,
	}
}

// decodedSize is about how many bytes a server takes here. Its user data is not among them.
func (s Server) decodedSize() int {
	const perServer, perValue = 512, 64
	size := perServer + len(s.ID) + len(s.Name) + len(s.Status) + len(s.TaskState) + len(s.HostID) + len(s.AvailabilityZone)
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

// ListServers returns the servers that match the filter. The list does not tell the fault of a server that never ran anywhere.
func (s *Session) ListServers(ctx context.Context, filter ServerFilter) ([]Server, error) {
	return s.servers().list(ctx, filter)
}

// GetServer returns a server. It fails with cloud.NotFound when there is none.
func (s *Session) GetServer(ctx context.Context, id string) (Server, error) {
	return s.servers().get(ctx, id)
}

// DeleteServer starts the deletion of a server, which is gone when GetServer no longer finds it. It fails with cloud.NotFound when
// there is none. A port that the server was given stays behind; one that Nova made for it goes, and so do volumes that are to.
func (s *Session) DeleteServer(ctx context.Context, id string) error {
	return s.servers().remove(ctx, id, nil)
}

// query narrows the list down as far as Nova can: it takes a name for a regular expression, in which capitals make no
// difference. By metadata only operators may filter in some clouds, so that this is left to matches.
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

// quoteRegexp returns an expression that matches a text and nothing else, whatever the database behind Nova is. Nova puts a
// backslash before each bar, which must not meet another one.
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

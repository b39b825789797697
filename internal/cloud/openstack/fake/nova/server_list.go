package nova

import (
	"cmp"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// listServers lists the newest first, unless the list has another order.
func (svc *Service) listServers(q *core.Request, micro int, detail bool) (core.Reply, error) {
	match, err := svc.serverFilter(q, micro)
	if err != nil {
		return core.Reply{}, err
	}
	rows := svc.Servers.Where(match)
	if err := sortServers(rows, q.Values); err != nil {
		return core.Reply{}, err
	}
	part, err := novaPage(q, rows, svc.Servers.ID)
	if err != nil {
		return core.Reply{}, err
	}
	out := []any{}
	for _, s := range part.Rows {
		if !detail {
			out = append(out, map[string]any{"id": s.ID, "name": s.Name, "links": novaLinks(q, "servers", s.ID)})
			continue
		}
		svc.CountPoll(s.ID)
		view := svc.serverView(q, s, micro)
		if s.Host == "" {
			delete(view, "fault") // lists look for faults where servers run, and one without a host runs nowhere
		}
		out = append(out, view)
	}
	body := map[string]any{"servers": out}
	if part.Links != nil {
		body["servers_links"] = part.Links
	}
	return core.OK(body)
}

// knownServerParameters are the parameters of a list of servers.
func knownServerParameters() []string {
	return []string{
		"limit", "marker", "sort_key", "sort_dir", "all_tenants", "name", "status", "flavor", "image", "ip", "ip6", "uuid", "project_id", "tenant_id",
		"user_id", "host", "node", "changes-since", "changes-before", "tags", "tags-any", "not-tags", "not-tags-any", "availability_zone", "key_name",
		"config_drive", "vm_state", "task_state", "power_state", "metadata", "deleted", "locked", "reservation_id", "created_at", "launched_at",
		"description", "hostname", "progress", "root_device_name",
	}
}

// serverFilter is a list's filter. Filters for operators, and unknown ones before microversion 2.75, are ignored for members.
func (svc *Service) serverFilter(q *core.Request, micro int) (func(*Server) bool, error) {
	if err := checkServerParameters(q, micro); err != nil {
		return nil, err
	}
	everybody := allTenants(q.Values)
	name, err := serverName(q.Values.Get("name"))
	if err != nil {
		return nil, err
	}
	since, err := changesSince(q.Values)
	if err != nil {
		return nil, err
	}
	return func(s *Server) bool {
		return mayList(q, s, everybody) && name.MatchString(s.Name) && s.UpdatedAt >= since &&
			(micro < 226 || core.MatchTags(s.Tags, q.Values)) && s.satisfies(q.Values, micro)
	}, nil
}

func checkServerParameters(q *core.Request, micro int) error {
	for _, key := range slices.Sorted(maps.Keys(q.Values)) {
		if micro >= 275 && !slices.Contains(knownServerParameters(), key) {
			return core.BadRequest("", "'%s' does not match any of the regexes: '^_'", key)
		}
	}
	if !allTenants(q.Values) || q.Admin() {
		return nil
	}
	if strings.HasSuffix(q.HTTP.URL.Path, "/detail") {
		return policyForbids("servers:detail:get_all_tenants")
	}
	return policyForbids("servers:index:get_all_tenants")
}

func allTenants(query url.Values) bool {
	return query.Has("all_tenants") && !slices.Contains([]string{"0", "false", "False"}, query.Get("all_tenants"))
}

// mayList reports whether a list includes a server.
func mayList(q *core.Request, s *Server, everybody bool) bool {
	if !everybody {
		return s.ProjectID == q.ProjectID
	}
	return (!q.Values.Has("project_id") || s.ProjectID == q.Values.Get("project_id")) && (!q.Values.Has("host") || s.Host == q.Values.Get("host"))
}

// serverName parses a regular expression. Nova's database compares without case, and Nova gives bars no special meaning.
func serverName(wanted string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(wanted); err != nil {
		return nil, core.BadRequest("", "Invalid input for query parameters name. Value: %s. %s is not a 'regex'", wanted, schema.PythonRepr(wanted))
	}
	expression, err := regexp.Compile("(?i)" + strings.ReplaceAll(wanted, "|", `\|`))
	if err != nil {
		return nil, core.BadRequest("", "Invalid input for query parameters name. Value: %s. %s is not a 'regex'", wanted, schema.PythonRepr(wanted))
	}
	return expression, nil
}

func changesSince(query url.Values) (string, error) {
	value := query.Get("changes-since")
	if value == "" {
		return "", nil
	}
	since, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return "", core.BadRequest("", "Invalid input for query parameters changes-since. Value: %s. %s is not a 'date-time'", value, schema.PythonRepr(value))
	}
	return core.Timestamp(since), nil
}

func (s *Server) satisfies(query url.Values, micro int) bool {
	if query.Has("status") && !slices.ContainsFunc(query["status"], func(status string) bool { return strings.EqualFold(status, s.Status) }) {
		return false
	}
	filters := map[string]string{"flavor": s.FlavorID, "image": s.ImageID}
	if micro >= 283 {
		filters["availability_zone"], filters["key_name"] = s.AvailabilityZone, s.KeyName
	}
	for key, value := range filters {
		if query.Has(key) && query.Get(key) != value {
			return false
		}
	}
	return true
}

// serverSortKeys are the sort keys that the fake supports.
func serverSortKeys() map[string]func(*Server) string {
	return map[string]func(*Server) string{
		"created_at":   func(s *Server) string { return s.CreatedAt },
		"updated_at":   func(s *Server) string { return s.UpdatedAt },
		"display_name": func(s *Server) string { return strings.ToLower(s.Name) },
		"uuid":         func(s *Server) string { return s.ID },
		"vm_state":     func(s *Server) string { return vmState(s.Status) },
	}
}

func sortServers(rows []*Server, query url.Values) error {
	slices.Reverse(rows)
	key := cmp.Or(query.Get("sort_key"), "created_at")
	value, known := serverSortKeys()[key]
	if !known {
		return core.BadRequest("", "Invalid input for query parameters sort_key. Value: %s. '%s' is not one of %s", key, key, serverColumns)
	}
	descending := query.Get("sort_dir") != "asc"
	slices.SortStableFunc(rows, func(a, b *Server) int {
		if descending {
			a, b = b, a
		}
		return strings.Compare(value(a), value(b))
	})
	return nil
}

// serverColumns is Nova's list of sort keys.
const serverColumns = "['access_ip_v4', 'access_ip_v6', 'auto_disk_config', 'availability_zone', 'config_drive', 'created_at', " +
	"'display_description', 'display_name', 'host', 'hostname', 'image_ref', 'instance_type_id', 'kernel_id', 'key_name', " +
	"'launch_index', 'launched_at', 'locked_by', 'node', 'power_state', 'progress', 'project_id', 'ramdisk_id', " +
	"'root_device_name', 'task_state', 'terminated_at', 'updated_at', 'user_id', 'uuid', 'vm_state', 'architecture', " +
	"'cell_name', 'cleaned', 'default_ephemeral_device', 'default_swap_device', 'deleted', 'deleted_at', 'disable_terminate', " +
	"'ephemeral_gb', 'ephemeral_key_uuid', 'id', 'key_data', 'launched_on', 'locked', 'memory_mb', 'os_type', " +
	"'reservation_id', 'root_gb', 'shutdown_terminate', 'user_data', 'vcpus', 'vm_mode']"

package fake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
)

// The message with which Nova's scheduler gives up.
const noValidHost = "No valid host was found. There are not enough hosts available."

type serverInput struct {
	Name             string            `json:"name"`
	Description      *string           `json:"description"`
	FlavorRef        string            `json:"flavorRef"`
	ImageRef         string            `json:"imageRef"`
	KeyName          string            `json:"key_name"`
	AvailabilityZone string            `json:"availability_zone"`
	Metadata         map[string]string `json:"metadata"`
	UserData         string            `json:"user_data"`
	ConfigDrive      any               `json:"config_drive"`
	Networks         json.RawMessage   `json:"networks"`
	Tags             []string          `json:"tags"`
	SecurityGroups   []serverGroupName `json:"security_groups"`
	Devices          []deviceInput     `json:"block_device_mapping_v2"`
}

// serverGroupName names a security group; an ID will do, too.
type serverGroupName struct {
	Name string `json:"name"`
}

func (svc *novaService) createServer(q *request, micro int) (reply, error) {
	if err := schema.Validate(q.body, serverRule(micro)); err != nil {
		return reply{}, err
	}
	var in serverInput
	if raw, _ := core.Unwrap(q.body, "server"); json.Unmarshal(raw, &in) != nil {
		return reply{}, core.BadRequest("", "Malformed request body")
	}
	group, err := svc.checkServer(q, &in)
	if err != nil {
		return reply{}, err
	}
	host, zone, placed := svc.hostOf(group, in.AvailabilityZone)
	s := svc.newServer(q, &in, micro)
	s.AvailabilityZone = zone
	if err := svc.attachNetworks(q, s, in.Networks); err != nil {
		return reply{}, err
	}
	if err := svc.makeDisks(q, s, in.Devices); err != nil {
		svc.detachAll(s)
		return reply{}, err
	}
	if s.buildFault != "" {
		s.AvailabilityZone = in.AvailabilityZone // that of the host is forgotten with the host
	}
	svc.servers.Add(s)
	if group != nil {
		s.GroupID = group.ID
		group.Members = core.With(group.Members, s.ID)
	}
	svc.beginTransition(ServerBuild, s.ID, func(failed bool) { svc.finishBuild(s, host, placed && !failed) })
	groups := in.SecurityGroups
	if groups == nil {
		groups = []serverGroupName{{"default"}}
	}
	return accepted(map[string]any{"server": map[string]any{
		"id": s.ID, "links": novaLinks(q, "servers", s.ID), "OS-DCF:diskConfig": "MANUAL", "adminPass": core.NewHexID()[:12], "security_groups": groups,
	}})
}

func (svc *novaService) newServer(q *request, in *serverInput, micro int) *Server {
	now := timestamp(svc.now())
	s := &Server{
		ID: core.NewUUID(), Name: in.Name, Description: in.Description, ProjectID: q.projectID, UserID: q.userID, Status: "BUILD", TaskState: "scheduling",
		FlavorID: in.FlavorRef, ImageID: in.ImageRef, KeyName: in.KeyName, Metadata: in.Metadata, UserData: in.UserData,
		ConfigDrive: slices.Contains([]string{"true", "1", "on", "yes"}, strings.ToLower(fmt.Sprint(in.ConfigDrive))),
		Tags:        core.With([]string{}, in.Tags...), CreatedAt: now, UpdatedAt: now, SecurityGroups: []string{}, CreatedPorts: []string{}, Disks: []Disk{},
	}
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	if micro < 219 {
		s.Description = &in.Name
	}
	for _, g := range in.SecurityGroups {
		s.SecurityGroups = append(s.SecurityGroups, g.Name)
	}
	return s
}

func (svc *novaService) finishBuild(s *Server, host string, placed bool) {
	s.TaskState = ""
	svc.touchServer(s)
	if !placed || s.buildFault != "" {
		s.Status, s.Fault = "ERROR", cmp.Or(s.buildFault, noValidHost)
		svc.detachAll(s)
		svc.dropDisks(s)
		return
	}
	s.Status, s.Host, s.LaunchedAt = "ACTIVE", host, manilaTime(svc.now())
	for _, p := range svc.serverPorts(s.ID) {
		p.Status = "ACTIVE"
		svc.neutron.touch(p.standard())
	}
	for i := range s.Disks {
		svc.connectDisk(s, &s.Disks[i])
	}
}

// checkServer looks up what a new server refers to, and the quota. It returns the server group of the hint, if any.
func (svc *novaService) checkServer(q *request, in *serverInput) (*ServerGroup, error) {
	flavor := svc.flavors.Get(in.FlavorRef)
	if flavor == nil {
		return nil, core.BadRequest("", "Flavor %s could not be found.", in.FlavorRef)
	}
	if in.ImageRef == "" && len(in.Devices) == 0 {
		return nil, core.BadRequest("", "Missing imageRef attribute")
	}
	if in.ImageRef != "" && svc.glance.images.Get(in.ImageRef) == nil {
		return nil, core.BadRequest("", "Can not find requested image")
	}
	if in.KeyName != "" && svc.keyPairs.Get(keyPairKey(q.userID, in.KeyName)) == nil {
		return nil, core.BadRequest("", "Invalid key_name provided.")
	}
	if in.AvailabilityZone != "" && !slices.Contains(svc.config.zones, in.AvailabilityZone) {
		return nil, core.BadRequest("", "The requested availability zone is not available")
	}
	for _, g := range in.SecurityGroups {
		if _, err := svc.groupByNameOrID(q, g.Name); err != nil {
			return nil, err
		}
	}
	if err := svc.checkServerQuota(q.projectID, flavor); err != nil {
		return nil, err
	}
	return svc.hintedGroup(q)
}

// hintedGroup is the server group that the scheduler hints name, or nil.
func (svc *novaService) hintedGroup(q *request) (*ServerGroup, error) {
	type hint struct {
		Group string `json:"group"`
	}
	var hints struct {
		OS  hint `json:"os:scheduler_hints"`
		Old hint `json:"OS-SCH-HNT:scheduler_hints"`
	}
	if json.Unmarshal(q.body, &hints) != nil {
		return nil, core.BadRequest("", "Invalid input for field/attribute os:scheduler_hints.")
	}
	id := cmp.Or(hints.OS.Group, hints.Old.Group)
	if id == "" {
		return nil, nil
	}
	group := svc.groups.Get(id)
	if group == nil || !q.owns(group.ProjectID) {
		return nil, core.BadRequest("", "Instance group %s could not be found.", id)
	}
	if svc.exceeds(q.projectID, "server_group_members", len(group.Members), 1) {
		return nil, core.Forbidden("", "Quota exceeded, too many servers in group")
	}
	return group, nil
}

func (svc *novaService) groupByNameOrID(q *request, name string) (*SecurityGroup, error) {
	found := svc.neutron.groups.Where(func(g *SecurityGroup) bool {
		return g.ProjectID == q.projectID && (g.ID == name || g.Name == name)
	})
	switch len(found) {
	case 0:
		return nil, core.BadRequest("", "Unable to find security_group with name or id '%s'", name)
	case 1:
		return found[0], nil
	default:
		return nil, core.Conflict("", "Multiple security groups found matching '%s'. Use an ID to be more specific.", name)
	}
}

func (svc *novaService) checkServerQuota(projectID string, flavor *Flavor) error {
	have := svc.serverUsage(projectID)
	want := map[string]int{"instances": 1, "cores": flavor.VCPUs, "ram": flavor.RAM}
	for _, resource := range []string{"instances", "cores", "ram"} {
		if svc.exceeds(projectID, resource, have[resource], want[resource]) {
			return core.Forbidden("", "Quota exceeded for %s: Requested %d, but already used %d of %d %s",
				resource, want[resource], have[resource], svc.limit(projectID, resource), resource)
		}
	}
	return nil
}

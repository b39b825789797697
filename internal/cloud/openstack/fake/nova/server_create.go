package nova

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/schema"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/neutron"
)

// The scheduler's message if no host is found.
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

// serverGroupName names a security group, by name or ID.
type serverGroupName struct {
	Name string `json:"name"`
}

func (svc *Service) createServer(q *core.Request, micro int) (core.Reply, error) {
	if err := schema.Validate(q.Body, serverRule(micro)); err != nil {
		return core.Reply{}, err
	}
	var in serverInput
	if raw, _ := core.Unwrap(q.Body, "server"); json.Unmarshal(raw, &in) != nil {
		return core.Reply{}, core.BadRequest("", "Malformed request body")
	}
	group, err := svc.checkServer(q, &in)
	if err != nil {
		return core.Reply{}, err
	}
	host, zone, placed := svc.hostOf(group, in.AvailabilityZone)
	s := svc.newServer(q, &in, micro)
	s.AvailabilityZone = zone
	if err := svc.attachNetworks(q, s, in.Networks); err != nil {
		return core.Reply{}, err
	}
	if err := svc.makeDisks(q, s, in.Devices); err != nil {
		svc.detachAll(s)
		return core.Reply{}, err
	}
	if s.buildFault != "" {
		s.AvailabilityZone = in.AvailabilityZone // that of the host is forgotten with the host
	}
	svc.Servers.Add(s)
	if group != nil {
		s.GroupID = group.ID
		group.Members = core.With(group.Members, s.ID)
	}
	svc.BeginTransition(core.ServerBuild, s.ID, func(failed bool) { svc.finishBuild(s, host, placed && !failed) })
	groups := in.SecurityGroups
	if groups == nil {
		groups = []serverGroupName{{"default"}}
	}
	return core.Accepted(map[string]any{"server": map[string]any{
		"id": s.ID, "links": novaLinks(q, "servers", s.ID), "OS-DCF:diskConfig": "MANUAL", "adminPass": core.NewHexID()[:12], "security_groups": groups,
	}})
}

func (svc *Service) newServer(q *core.Request, in *serverInput, micro int) *Server {
	now := core.Timestamp(svc.Now())
	s := &Server{
		ID: core.NewUUID(), Name: in.Name, Description: in.Description, ProjectID: q.ProjectID, UserID: q.UserID, Status: "BUILD", TaskState: "scheduling",
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

func (svc *Service) finishBuild(s *Server, host string, placed bool) {
	s.TaskState = ""
	svc.touchServer(s)
	if !placed || s.buildFault != "" {
		s.Status, s.Fault = "ERROR", cmp.Or(s.buildFault, noValidHost)
		svc.detachAll(s)
		svc.dropDisks(s)
		return
	}
	s.Status, s.Host, s.LaunchedAt = "ACTIVE", host, core.ManilaTime(svc.Now())
	for _, p := range svc.serverPorts(s.ID) {
		p.Status = "ACTIVE"
		svc.neutron.Touch(p.Base())
	}
	for i := range s.Disks {
		svc.connectDisk(s, &s.Disks[i])
	}
}

// checkServer reads what a new server refers to, and checks the quota. It returns the server group of the hint, if any.
func (svc *Service) checkServer(q *core.Request, in *serverInput) (*ServerGroup, error) {
	flavor := svc.flavors.Get(in.FlavorRef)
	if flavor == nil {
		return nil, core.BadRequest("", "Flavor %s could not be found.", in.FlavorRef)
	}
	if in.ImageRef == "" && len(in.Devices) == 0 {
		return nil, core.BadRequest("", "Missing imageRef attribute")
	}
	if in.ImageRef != "" && svc.glance.Images.Get(in.ImageRef) == nil {
		return nil, core.BadRequest("", "Can not find requested image")
	}
	if in.KeyName != "" && svc.KeyPairs.Get(keyPairKey(q.UserID, in.KeyName)) == nil {
		return nil, core.BadRequest("", "Invalid key_name provided.")
	}
	if in.AvailabilityZone != "" && !slices.Contains(svc.Config.Zones, in.AvailabilityZone) {
		return nil, core.BadRequest("", "The requested availability zone is not available")
	}
	for _, g := range in.SecurityGroups {
		if _, err := svc.groupByNameOrID(q, g.Name); err != nil {
			return nil, err
		}
	}
	if err := svc.checkServerQuota(q.ProjectID, flavor); err != nil {
		return nil, err
	}
	return svc.hintedGroup(q)
}

// hintedGroup is the server group in the scheduler hints, or nil.
func (svc *Service) hintedGroup(q *core.Request) (*ServerGroup, error) {
	type hint struct {
		Group string `json:"group"`
	}
	var hints struct {
		OS  hint `json:"os:scheduler_hints"`
		Old hint `json:"OS-SCH-HNT:scheduler_hints"`
	}
	if json.Unmarshal(q.Body, &hints) != nil {
		return nil, core.BadRequest("", "Invalid input for field/attribute os:scheduler_hints.")
	}
	id := cmp.Or(hints.OS.Group, hints.Old.Group)
	if id == "" {
		return nil, nil
	}
	group := svc.Groups.Get(id)
	if group == nil || !q.Owns(group.ProjectID) {
		return nil, core.BadRequest("", "Instance group %s could not be found.", id)
	}
	if svc.Exceeds(q.ProjectID, "server_group_members", len(group.Members), 1) {
		return nil, core.Forbidden("", "Quota exceeded, too many servers in group")
	}
	return group, nil
}

func (svc *Service) groupByNameOrID(q *core.Request, name string) (*neutron.SecurityGroup, error) {
	found := svc.neutron.Groups.Where(func(g *neutron.SecurityGroup) bool {
		return g.ProjectID == q.ProjectID && (g.ID == name || g.Name == name)
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

func (svc *Service) checkServerQuota(projectID string, flavor *Flavor) error {
	have := svc.serverUsage(projectID)
	want := map[string]int{"instances": 1, "cores": flavor.VCPUs, "ram": flavor.RAM}
	for _, resource := range []string{"instances", "cores", "ram"} {
		if svc.Exceeds(projectID, resource, have[resource], want[resource]) {
			return core.Forbidden("", "Quota exceeded for %s: Requested %d, but already used %d of %d %s",
				resource, want[resource], have[resource], svc.Limit(projectID, resource), resource)
		}
	}
	return nil
}

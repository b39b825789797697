package fake

import (
	"cmp"
	"encoding/json"
	"slices"
)

// The message with which Nova's scheduler gives up.
const noValidHost = "No valid host was found. There are not enough hosts available."

type serverInput struct {
	Name             string            `json:"name"`
	FlavorRef        string            `json:"flavorRef"`
	ImageRef         string            `json:"imageRef"`
	KeyName          string            `json:"key_name"`
	AvailabilityZone string            `json:"availability_zone"`
	Metadata         map[string]string `json:"metadata"`
	UserData         string            `json:"user_data"`
	ConfigDrive      bool              `json:"config_drive"`
	Networks         json.RawMessage   `json:"networks"`
	SecurityGroups   []struct {
		Name string `json:"name"`
	} `json:"security_groups"`
	BlockDevices []struct {
		UUID       string `json:"uuid"`
		SourceType string `json:"source_type"`
	} `json:"block_device_mapping_v2"`
}

type serverNetwork struct {
	UUID    string `json:"uuid"`
	Port    string `json:"port"`
	FixedIP string `json:"fixed_ip"`
}

func (c *Cloud) createServer(q *request, _ int) (reply, error) {
	raw, found := unwrap(q.body, "server")
	var in serverInput
	if !found || json.Unmarshal(raw, &in) != nil || in.Name == "" || in.FlavorRef == "" {
		return reply{}, badRequest("", "Invalid input for field/attribute server. 'name' and 'flavorRef' are required properties")
	}
	group, err := c.checkServer(q, &in)
	if err != nil {
		return reply{}, err
	}
	now := timestamp(c.now())
	s := &Server{
		ID: newUUID(), Name: in.Name, ProjectID: q.projectID, UserID: q.userID, Status: "BUILD", TaskState: "scheduling",
		FlavorID: in.FlavorRef, ImageID: in.ImageRef, KeyName: in.KeyName, AvailabilityZone: in.AvailabilityZone,
		Metadata: in.Metadata, UserData: in.UserData, ConfigDrive: in.ConfigDrive, CreatedAt: now, UpdatedAt: now,
		SecurityGroups: []string{}, CreatedPorts: []string{}, Volumes: []string{},
	}
	if s.Metadata == nil {
		s.Metadata = map[string]string{}
	}
	s.AvailabilityZone = cmp.Or(s.AvailabilityZone, c.config.zones[0])
	for _, g := range in.SecurityGroups {
		s.SecurityGroups = append(s.SecurityGroups, g.Name)
	}
	for _, d := range in.BlockDevices {
		if d.SourceType == "volume" {
			s.Volumes = append(s.Volumes, d.UUID)
		}
	}
	if err := c.attachNetworks(q, s, in.Networks); err != nil {
		return reply{}, err
	}
	c.nova.servers.add(s)
	host, hasHost := c.hostOf(group)
	if group != nil {
		s.GroupID = group.ID
		group.Members = with(group.Members, s.ID)
	}
	c.begin(ServerBuild, s.ID, func(failed bool) { c.finishBuild(s, host, hasHost && !failed) })
	return accepted(map[string]any{"server": map[string]any{
		"id": s.ID, "links": []any{}, "OS-DCF:diskConfig": "MANUAL", "adminPass": newHexID()[:12], "security_groups": in.SecurityGroups,
	}})
}

func (c *Cloud) finishBuild(s *Server, host string, placed bool) {
	s.TaskState, s.UpdatedAt = "", timestamp(c.now())
	if !placed {
		s.Status, s.Fault = "ERROR", noValidHost
		return
	}
	s.Status, s.Host = "ACTIVE", host
	for _, p := range c.serverPorts(s.ID) {
		p.Status = "ACTIVE"
		c.touch(p.standard())
	}
}

// checkServer looks up what a new server refers to, and the quota. It returns the server group of the hint, if any.
func (c *Cloud) checkServer(q *request, in *serverInput) (*ServerGroup, error) {
	flavor := c.nova.flavors.get(in.FlavorRef)
	if flavor == nil {
		return nil, badRequest("", "Flavor %s could not be found.", in.FlavorRef)
	}
	if in.ImageRef == "" && len(in.BlockDevices) == 0 {
		return nil, badRequest("", "Invalid imageRef provided.")
	}
	if in.ImageRef != "" && c.glance.images.get(in.ImageRef) == nil {
		return nil, badRequest("", "Can not find requested image")
	}
	if in.KeyName != "" && c.nova.keyPairs.get(q.userID+"/"+in.KeyName) == nil {
		return nil, badRequest("", "Invalid key_name provided.")
	}
	if in.AvailabilityZone != "" && !slices.Contains(c.config.zones, in.AvailabilityZone) {
		return nil, badRequest("", "The requested availability zone is not available")
	}
	for _, g := range in.SecurityGroups {
		if _, err := c.groupByNameOrID(q, g.Name); err != nil {
			return nil, err
		}
	}
	if err := c.checkServerQuota(q.projectID, flavor); err != nil {
		return nil, err
	}
	return c.hintedGroup(q)
}

// hintedGroup is the server group that the scheduler hints name, or nil.
func (c *Cloud) hintedGroup(q *request) (*ServerGroup, error) {
	type hint struct {
		Group string `json:"group"`
	}
	var hints struct {
		OS  hint `json:"os:scheduler_hints"`
		Old hint `json:"OS-SCH-HNT:scheduler_hints"`
	}
	if json.Unmarshal(q.body, &hints) != nil {
		return nil, badRequest("", "Invalid input for field/attribute os:scheduler_hints.")
	}
	id := cmp.Or(hints.OS.Group, hints.Old.Group)
	if id == "" {
		return nil, nil
	}
	group := c.nova.groups.get(id)
	if group == nil || !q.owns(group.ProjectID) {
		return nil, badRequest("", "Instance group %s could not be found.", id)
	}
	return group, nil
}

func (c *Cloud) groupByNameOrID(q *request, name string) (*SecurityGroup, error) {
	found := c.neutron.groups.where(func(g *SecurityGroup) bool {
		return g.ProjectID == q.projectID && (g.ID == name || g.Name == name)
	})
	switch len(found) {
	case 0:
		return nil, badRequest("", "Security group %s not found for project %s.", name, q.projectID)
	case 1:
		return found[0], nil
	default:
		return nil, conflict("", "Multiple security groups found matching '%s'. Use an ID to be more specific.", name)
	}
}

func (c *Cloud) checkServerQuota(projectID string, flavor *Flavor) error {
	have := map[string]int{}
	for _, s := range c.nova.servers.rows {
		if f := c.nova.flavors.get(s.FlavorID); s.ProjectID == projectID && f != nil {
			have["instances"]++
			have["cores"] += f.VCPUs
			have["ram"] += f.RAM
		}
	}
	want := map[string]int{"instances": 1, "cores": flavor.VCPUs, "ram": flavor.RAM}
	for _, resource := range []string{"instances", "cores", "ram"} {
		if c.exceeds(projectID, resource, have[resource], want[resource]) {
			return forbidden("", "Quota exceeded for %s: Requested %d, but already used %d of %d %s",
				resource, want[resource], have[resource], c.limit(projectID, resource), resource)
		}
	}
	return nil
}

// attachNetworks connects a new server: to ports that exist, or by ports that Nova makes.
func (c *Cloud) attachNetworks(q *request, s *Server, raw json.RawMessage) error {
	var wanted []serverNetwork
	var word string
	switch {
	case len(raw) == 0:
		own := c.neutron.networks.where(func(n *Network) bool { return n.ProjectID == q.projectID && !n.External })
		if len(own) > 1 {
			return conflict("", "Multiple possible networks found, use a Network ID to be more specific.")
		}
		for _, n := range own {
			wanted = []serverNetwork{{UUID: n.ID}}
		}
	case json.Unmarshal(raw, &word) == nil: // "none" or "auto"
		return nil
	case json.Unmarshal(raw, &wanted) != nil:
		return badRequest("", "Invalid input for field/attribute networks.")
	}
	for _, w := range wanted {
		if err := c.attachNetwork(q, s, w); err != nil {
			c.detachAll(s)
			return err
		}
	}
	return nil
}

func (c *Cloud) attachNetwork(q *request, s *Server, w serverNetwork) error {
	owner := "compute:" + s.AvailabilityZone
	if w.Port != "" {
		p := c.neutron.ports.get(w.Port)
		if p == nil || !q.owns(p.ProjectID) {
			return badRequest("", "Port id %s could not be found.", w.Port)
		}
		if p.DeviceID != "" {
			return conflict("", "Port %s is still in use.", w.Port)
		}
		p.DeviceID, p.DeviceOwner = s.ID, owner
		c.touch(p.standard())
		return nil
	}
	n, err := c.readableNetwork(q.identity, w.UUID)
	if err != nil {
		return badRequest("", "Network %s could not be found.", w.UUID)
	}
	if c.exceeds(q.projectID, "port", c.ownPorts(q.projectID), 1) {
		return forbidden("", "Maximum number of ports exceeded")
	}
	p := c.newPort(q.projectID, n, owner, s.ID)
	for _, name := range s.SecurityGroups {
		g, err := c.groupByNameOrID(q, name)
		if err != nil {
			return err
		}
		p.SecurityGroups = append(p.SecurityGroups, g.ID)
	}
	if len(p.SecurityGroups) == 0 {
		p.SecurityGroups = []string{c.ensureDefaultGroup(q.projectID).ID}
	}
	if w.FixedIP != "" {
		p.FixedIPs, err = c.assign(n, p.ID, p.MACAddress, []fixedIPInput{{IPAddress: w.FixedIP}})
	} else {
		p.FixedIPs, err = c.allocateAny(n, p.ID, p.MACAddress)
	}
	if err != nil {
		return badRequest("", "No fixed IP addresses available for network: %s", n.ID)
	}
	s.CreatedPorts = append(s.CreatedPorts, c.neutron.ports.add(p).ID)
	return nil
}

func (c *Cloud) detachAll(s *Server) {
	for _, p := range c.serverPorts(s.ID) {
		if slices.Contains(s.CreatedPorts, p.ID) {
			c.dropPort(p)
			continue
		}
		p.DeviceID, p.DeviceOwner = "", ""
	}
}

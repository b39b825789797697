package neutron

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/wire"
)

type subnetPoolInput struct {
	Name             core.Opt[string]   `json:"name"`
	Description      core.Opt[string]   `json:"description"`
	Prefixes         core.Opt[[]string] `json:"prefixes"`
	DefaultPrefixLen core.Opt[int]      `json:"default_prefixlen"`
	MinPrefixLen     core.Opt[int]      `json:"min_prefixlen"`
	MaxPrefixLen     core.Opt[int]      `json:"max_prefixlen"`
	DefaultQuota     core.Opt[int]      `json:"default_quota"`
	AddressScopeID   core.Opt[string]   `json:"address_scope_id"`
	Shared           core.Opt[bool]     `json:"shared"`
	IsDefault        core.Opt[bool]     `json:"is_default"`
}

func (svc *Service) subnetPoolCollection() *collection[SubnetPool] {
	return &collection[SubnetPool]{
		singular: "subnetpool", plural: "subnetpools", path: "subnetpools", quota: "subnetpool",
		rows: svc.Pools, std: func(p *SubnetPool) *Standard { return p.Base() },
		missing: poolNotFound,
		visible: func(_ *core.Identity, p *SubnetPool) bool { return p.Shared },
		create:  svc.createSubnetPool, update: svc.updateSubnetPool, remove: svc.deleteSubnetPool,
		startsAtRevisionZero: true, updated: updatedPool,
		discard: func(p *SubnetPool) { svc.Pools.Remove(p.ID) },
	}
}

func poolNotFound(id string) *wire.Error {
	return core.NotFound("SubnetPoolNotFound", "Subnet pool %s could not be found.", id)
}

func (svc *Service) createSubnetPool(q *core.Request, projectID string, raw json.RawMessage) (*SubnetPool, error) {
	var in subnetPoolInput
	if err := decodeNeutron[SubnetPool](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	for attribute, given := range map[string]bool{"name": in.Name.Set, "prefixes": in.Prefixes.Set} {
		if !given {
			return nil, required(attribute)
		}
	}
	p := &SubnetPool{Standard: svc.newStandard(projectID, "")}
	if err := svc.applySubnetPool(q, p, &in, "create"); err != nil {
		return nil, err
	}
	return svc.Pools.Add(p), nil
}

func (svc *Service) updateSubnetPool(q *core.Request, p *SubnetPool, raw json.RawMessage) error {
	var in subnetPoolInput
	if err := decodeNeutron[SubnetPool](raw, &in, http.MethodPut); err != nil {
		return err
	}
	if in.Shared.Set {
		return core.BadRequest("HTTPBadRequest", "Cannot update read-only attribute shared")
	}
	changed := *p
	if err := svc.applySubnetPool(q, &changed, &in, "update"); err != nil {
		return err
	}
	*p = changed
	return nil
}

// updatedPool is the format of a pool in the response to an update only: with numbers, and without null.
func updatedPool(p *SubnetPool) any {
	shown := struct {
		SubnetPool
		DefaultPrefixLen int       `json:"default_prefixlen"`
		MinPrefixLen     int       `json:"min_prefixlen"`
		MaxPrefixLen     int       `json:"max_prefixlen"`
		DefaultQuota     int       `json:"default_quota,omitempty"`
		AddressScopeID   core.Null `json:"address_scope_id,omitempty"`
	}{*p, int(p.DefaultPrefixLen), int(p.MinPrefixLen), int(p.MaxPrefixLen), int(p.DefaultQuota), p.AddressScopeID}
	return shown
}

func (svc *Service) applySubnetPool(q *core.Request, p *SubnetPool, in *subnetPoolInput, action string) error {
	if err := in.check(); err != nil {
		return err
	}
	for attribute, sent := range map[string]bool{"shared": in.Shared.Or(false), "is_default": in.IsDefault.Or(false)} {
		if sent && !q.Admin() {
			return core.Forbidden("PolicyNotAuthorized", "(rule:%[1]s_subnetpool and rule:%[1]s_subnetpool:%[2]s) is disallowed by policy", action, attribute)
		}
	}
	if in.Prefixes.Set {
		if err := p.setPrefixes(in.Prefixes.Value); err != nil {
			return err
		}
	}
	if in.IsDefault.Or(false) && !p.IsDefault {
		if other := svc.Pools.First(func(o *SubnetPool) bool { return o.IsDefault && o.IPVersion == p.IPVersion }); other != nil {
			return invalid("A default subnetpool for this IP family has already been set. Only one default may exist per IP family")
		}
	}
	in.Name.Into(&p.Name)
	in.Description.Into(&p.Description)
	in.Shared.Into(&p.Shared)
	in.IsDefault.Into(&p.IsDefault)
	if in.DefaultQuota.Set {
		p.DefaultQuota = core.NullInt(in.DefaultQuota.Value)
	}
	return p.setBounds(in)
}

// check validates the attributes on their own.
func (in *subnetPoolInput) check() error {
	for _, number := range []struct {
		attribute string
		sent      core.Opt[int]
	}{
		{"default_quota", in.DefaultQuota},
		{"default_prefixlen", in.DefaultPrefixLen},
		{"min_prefixlen", in.MinPrefixLen},
		{"max_prefixlen", in.MaxPrefixLen},
	} {
		if number.sent.Value < 0 {
			return badValue(number.attribute, "'%d' should be non-negative", number.sent.Value)
		}
	}
	for _, text := range in.Prefixes.Value {
		if _, err := netip.ParsePrefix(text); err != nil {
			return badValue("prefixes", "'%s' is not a valid IP subnet", text)
		}
	}
	if in.AddressScopeID.Given() {
		return checkID("address_scope_id", in.AddressScopeID)
	}
	return nil
}

// setBounds sets the limits of subnets' prefix lengths.
func (p *SubnetPool) setBounds(in *subnetPoolInput) error {
	longest := core.IntText(32)
	if p.IPVersion == 6 {
		longest = 128
	}
	for bound, sent := range map[*core.IntText]core.Opt[int]{&p.MinPrefixLen: in.MinPrefixLen, &p.MaxPrefixLen: in.MaxPrefixLen} {
		if sent.Set {
			*bound = core.IntText(sent.Value)
		}
	}
	if p.DefaultPrefixLen == 0 {
		p.DefaultPrefixLen = p.MinPrefixLen
	}
	if in.DefaultPrefixLen.Set {
		p.DefaultPrefixLen = core.IntText(in.DefaultPrefixLen.Value)
	}
	for _, rule := range []struct {
		isBroken    bool
		name        string
		length      core.IntText
		other       string
		otherLength core.IntText
	}{
		{p.MinPrefixLen > p.MaxPrefixLen, "min_prefixlen", p.MinPrefixLen, "max_prefixlen", p.MaxPrefixLen},
		{p.MaxPrefixLen > longest, "max_prefixlen", p.MaxPrefixLen, "ip_version_max", longest},
		{p.DefaultPrefixLen < p.MinPrefixLen, "default_prefixlen", p.DefaultPrefixLen, "min_prefixlen", p.MinPrefixLen},
		{p.DefaultPrefixLen > p.MaxPrefixLen, "default_prefixlen", p.DefaultPrefixLen, "max_prefixlen", p.MaxPrefixLen},
	} {
		if rule.isBroken {
			return core.BadRequest("IllegalSubnetPoolPrefixBounds", "Illegal prefix bounds: %s=%d, %s=%d.", rule.name, int(rule.length), rule.other, int(rule.otherLength))
		}
	}
	return nil
}

// setPrefixes sets the ranges of a pool, all of one IP version; the first ones also set the default bounds. A pool cannot shrink.
func (p *SubnetPool) setPrefixes(texts []string) error {
	if len(texts) == 0 {
		return core.BadRequest("EmptySubnetPoolPrefixList", "Empty subnet pool prefix list.")
	}
	var prefixes []netip.Prefix
	for _, text := range texts {
		prefixes = append(prefixes, netip.MustParsePrefix(text).Masked())
	}
	version := versionOf(prefixes[0].Addr())
	prefixes = compacted(prefixes)
	for _, old := range p.Prefixes {
		if !slices.ContainsFunc(prefixes, func(prefix netip.Prefix) bool {
			return prefix.Overlaps(netip.MustParsePrefix(old)) && prefix.Bits() <= netip.MustParsePrefix(old).Bits()
		}) {
			return core.BadRequest("IllegalSubnetPoolPrefixUpdate", "Illegal update to prefixes: Existing prefixes must be a subset of the new prefixes.")
		}
	}
	if slices.ContainsFunc(prefixes, func(prefix netip.Prefix) bool { return versionOf(prefix.Addr()) != version }) {
		return core.BadRequest("PrefixVersionMismatch", "Cannot mix IPv4 and IPv6 prefixes in a subnet pool.")
	}
	if p.IPVersion == 0 {
		p.IPVersion, p.MinPrefixLen, p.MaxPrefixLen = version, 8, 32
		if version == 6 {
			p.MinPrefixLen, p.MaxPrefixLen = 64, 128
		}
	}
	p.Prefixes = nil
	for _, prefix := range prefixes {
		p.Prefixes = append(p.Prefixes, prefix.String())
	}
	return nil
}

func (svc *Service) deleteSubnetPool(_ *core.Request, p *SubnetPool) error {
	if svc.Subnets.First(func(s *Subnet) bool { return string(s.SubnetPoolID) == p.ID }) != nil {
		return core.BadRequest("SubnetPoolDeleteError", "Unable to delete subnet pool: Subnet pool has existing allocations.")
	}
	svc.Pools.Remove(p.ID)
	return nil
}

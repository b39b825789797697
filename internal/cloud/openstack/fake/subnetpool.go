package fake

import (
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

type subnetPoolInput struct {
	Name             opt[string]   `json:"name"`
	Description      opt[string]   `json:"description"`
	Prefixes         opt[[]string] `json:"prefixes"`
	DefaultPrefixLen opt[int]      `json:"default_prefixlen"`
	MinPrefixLen     opt[int]      `json:"min_prefixlen"`
	MaxPrefixLen     opt[int]      `json:"max_prefixlen"`
	AddressScopeID   opt[string]   `json:"address_scope_id"`
	Shared           opt[bool]     `json:"shared"`
	IsDefault        opt[bool]     `json:"is_default"`
}

func (c *Cloud) subnetPoolCollection() *collection[SubnetPool] {
	return &collection[SubnetPool]{
		one: "subnetpool", many: "subnetpools", path: "subnetpools", quota: "subnetpool",
		rows: c.neutron.pools, std: func(p *SubnetPool) *Standard { return p.standard() },
		missing: poolNotFound,
		visible: func(_ *identity, p *SubnetPool) bool { return p.Shared },
		create:  c.createSubnetPool, update: c.updateSubnetPool, remove: c.deleteSubnetPool,
		discard: func(p *SubnetPool) { c.neutron.pools.remove(p.ID) },
	}
}

func poolNotFound(id string) *wire.Error {
	return notFound("SubnetPoolNotFound", "Subnet pool %s could not be found.", id)
}

func (c *Cloud) createSubnetPool(q *request, projectID string, raw json.RawMessage) (*SubnetPool, error) {
	var in subnetPoolInput
	if err := decodeNeutron[SubnetPool](raw, &in, http.MethodPost); err != nil {
		return nil, err
	}
	if len(in.Prefixes.v) == 0 {
		return nil, required("prefixes")
	}
	p := &SubnetPool{Standard: c.newStandard(projectID, "")}
	if err := c.applySubnetPool(q, p, &in); err != nil {
		return nil, err
	}
	return c.neutron.pools.add(p), nil
}

func (c *Cloud) updateSubnetPool(q *request, p *SubnetPool, raw json.RawMessage) error {
	var in subnetPoolInput
	if err := decodeNeutron[SubnetPool](raw, &in, http.MethodPut); err != nil {
		return err
	}
	changed := *p
	if err := c.applySubnetPool(q, &changed, &in); err != nil {
		return err
	}
	*p = changed
	return nil
}

func (c *Cloud) applySubnetPool(q *request, p *SubnetPool, in *subnetPoolInput) error {
	if !q.admin() && (in.Shared.or(false) || in.IsDefault.or(false)) {
		return denied("subnetpool", "shared")
	}
	if in.Prefixes.given() {
		if err := p.setPrefixes(in.Prefixes.v); err != nil {
			return err
		}
	}
	in.Name.into(&p.Name)
	in.Description.into(&p.Description)
	in.Shared.into(&p.Shared)
	in.IsDefault.into(&p.IsDefault)
	in.MinPrefixLen.into(&p.MinPrefixLen)
	in.MaxPrefixLen.into(&p.MaxPrefixLen)
	if p.DefaultPrefixLen == 0 {
		p.DefaultPrefixLen = p.MinPrefixLen
	}
	in.DefaultPrefixLen.into(&p.DefaultPrefixLen)
	if p.MinPrefixLen > p.MaxPrefixLen || p.DefaultPrefixLen < p.MinPrefixLen || p.DefaultPrefixLen > p.MaxPrefixLen {
		return badRequest("IllegalSubnetPoolPrefixBounds", "Illegal prefix bounds: min_prefixlen=%d, default_prefixlen=%d, max_prefixlen=%d.", p.MinPrefixLen, p.DefaultPrefixLen, p.MaxPrefixLen)
	}
	return nil
}

// setPrefixes sets the ranges of a pool, which are all of one version; with the first ones come the default bounds.
func (p *SubnetPool) setPrefixes(prefixes []string) error {
	for _, text := range prefixes {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return badRequest("HTTPBadRequest", "Invalid input for prefixes. Reason: '%s' is not a valid IP subnet.", text)
		}
		version := 6
		if prefix.Addr().Is4() {
			version = 4
		}
		switch {
		case p.IPVersion != 0 && p.IPVersion != version:
			return badRequest("PrefixVersionMismatch", "Cannot mix IPv4 and IPv6 prefixes in a subnet pool.")
		case p.IPVersion == 0 && version == 4:
			p.MinPrefixLen, p.MaxPrefixLen = 8, 32
		case p.IPVersion == 0:
			p.MinPrefixLen, p.MaxPrefixLen = 64, 128
		}
		p.IPVersion = version
	}
	p.Prefixes = prefixes
	return nil
}

func (c *Cloud) deleteSubnetPool(_ *request, p *SubnetPool) error {
	if c.neutron.subnets.first(func(s *Subnet) bool { return string(s.SubnetPoolID) == p.ID }) != nil {
		return badRequest("SubnetPoolDeleteError", "Unable to delete subnet pool: Subnet pool has existing allocations.")
	}
	c.neutron.pools.remove(p.ID)
	return nil
}

// prefixFromPool takes a range from a subnet pool: the given one, or the first free one of the wanted length.
func (c *Cloud) prefixFromPool(q *request, in *subnetInput, given netip.Prefix) (netip.Prefix, error) {
	p := c.neutron.pools.get(in.SubnetPoolID.v)
	if p == nil || !q.owns(p.ProjectID) && !p.Shared {
		return netip.Prefix{}, poolNotFound(in.SubnetPoolID.v)
	}
	if p.IPVersion != in.IPVersion.v {
		return netip.Prefix{}, badRequest("BadRequest", "Bad subnets request: Cannot allocate IPv%d subnet from IPv%d subnet pool.", in.IPVersion.v, p.IPVersion)
	}
	bits := in.PrefixLen.or(p.DefaultPrefixLen)
	if given.IsValid() {
		bits = given.Bits()
	}
	if bits < p.MinPrefixLen {
		return netip.Prefix{}, badRequest("MinPrefixSubnetAllocationError", "Unable to allocate subnet with prefix length %d, minimum allowed prefix is %d.", bits, p.MinPrefixLen)
	}
	if bits > p.MaxPrefixLen {
		return netip.Prefix{}, badRequest("MaxPrefixSubnetAllocationError", "Unable to allocate subnet with prefix length %d, maximum allowed prefix is %d.", bits, p.MaxPrefixLen)
	}
	var taken []netip.Prefix
	for _, s := range c.neutron.subnets.rows {
		if string(s.SubnetPoolID) == p.ID {
			taken = append(taken, prefixOf(s))
		}
	}
	// Neutron has no better status for a pool that ran dry: 500, but with a type.
	if given.IsValid() {
		if !insidePool(p, given) || overlapsAny(given, taken) {
			return netip.Prefix{}, fail(http.StatusInternalServerError, "SubnetAllocationError", "Failed to allocate subnet: Cannot allocate requested subnet from the available set of prefixes.")
		}
		return given, nil
	}
	for _, text := range p.Prefixes {
		if free := firstFree(netip.MustParsePrefix(text).Masked(), bits, taken); free.IsValid() {
			return free, nil
		}
	}
	return netip.Prefix{}, fail(http.StatusInternalServerError, "SubnetAllocationError", "Failed to allocate subnet: Insufficient prefix space to allocate subnet size /%d.", bits)
}

func insidePool(p *SubnetPool, wanted netip.Prefix) bool {
	for _, text := range p.Prefixes {
		if all := netip.MustParsePrefix(text); all.Bits() <= wanted.Bits() && all.Contains(wanted.Addr()) {
			return true
		}
	}
	return false
}

func overlapsAny(p netip.Prefix, taken []netip.Prefix) bool {
	for _, t := range taken {
		if t.Overlaps(p) {
			return true
		}
	}
	return false
}

// firstFree is the lowest range of the given length inside all that overlaps nothing taken. It jumps over what is
// taken, so that the size of the pool does not matter.
func firstFree(all netip.Prefix, bits int, taken []netip.Prefix) netip.Prefix {
	if bits < all.Bits() {
		return netip.Prefix{}
	}
	candidate := netip.PrefixFrom(all.Addr(), bits)
	for all.Contains(candidate.Addr()) {
		next := candidate
		for _, t := range taken {
			if !t.Overlaps(candidate) {
				continue
			}
			end := lastOf(t)
			if own := lastOf(candidate); end.Less(own) {
				end = own
			}
			next = netip.PrefixFrom(end.Next(), bits)
			break
		}
		if next == candidate {
			return candidate
		}
		if !next.Addr().IsValid() {
			break
		}
		candidate = next
	}
	return netip.Prefix{}
}

package neutron

import (
	"cmp"
	"math"
	"net/http"
	"net/netip"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
)

// badSubnet is Neutron's error for a new subnet's request to a subnet pool.
func badSubnet(format string, args ...any) error {
	return core.BadRequest("BadRequest", "Bad subnets request: "+format+".", args...)
}

// poolOf is the subnet pool of a new subnet; nil if the range is given without a pool.
func (svc *Service) poolOf(q *core.Request, in *subnetInput, given netip.Prefix) (*SubnetPool, error) {
	switch {
	case given.IsValid() && in.PrefixLen.Given():
		return nil, badSubnet("cidr and prefixlen must not be supplied together")
	case in.UseDefaultPool.Value && in.SubnetPoolID.Given():
		return nil, badSubnet("subnetpool_id and use_default_subnetpool cannot both be specified")
	case !in.UseDefaultPool.Value && !in.SubnetPoolID.Given() && !given.IsValid():
		return nil, badSubnet("a subnetpool must be specified in the absence of a cidr")
	case in.UseDefaultPool.Value:
		return svc.defaultPool(q, in, given)
	case !in.SubnetPoolID.Given():
		return nil, nil
	}
	pool := svc.Pools.Get(in.SubnetPoolID.Value)
	if pool == nil || !q.Owns(pool.ProjectID) && !pool.Shared {
		return nil, poolNotFound(in.SubnetPoolID.Value)
	}
	return pool, svc.checkFromPool(pool, in, given)
}

// defaultPool is the subnet pool of subnets that name none.
func (svc *Service) defaultPool(q *core.Request, in *subnetInput, given netip.Prefix) (*SubnetPool, error) {
	version := in.IPVersion.Value
	if given.IsValid() {
		version = versionOf(given.Addr())
	}
	pool := svc.Pools.First(func(p *SubnetPool) bool {
		return p.IsDefault && p.IPVersion == version && (p.Shared || q.Owns(p.ProjectID))
	})
	if pool == nil {
		return nil, badSubnet("No default subnetpool found for IPv%d", version)
	}
	return pool, svc.checkFromPool(pool, in, given)
}

func (svc *Service) checkFromPool(p *SubnetPool, in *subnetInput, given netip.Prefix) error {
	if !given.IsValid() && in.AllocationPools.Given() {
		return badSubnet("allocation_pools allowed only for specific subnet requests.")
	}
	if p.IPVersion != in.IPVersion.Value {
		return badSubnet("Cannot allocate IPv%d subnet from IPv%d subnet pool", in.IPVersion.Value, p.IPVersion)
	}
	return nil
}

// prefixFromPool allocates a range from a subnet pool: the given one, or one of the given length, from the smallest free range, so that large ones
// stay whole.
func (svc *Service) prefixFromPool(p *SubnetPool, in *subnetInput, given netip.Prefix) (netip.Prefix, error) {
	bits := in.PrefixLen.Or(int(p.DefaultPrefixLen))
	if given.IsValid() {
		bits = given.Bits()
	}
	if bits > int(p.MaxPrefixLen) {
		return netip.Prefix{}, core.BadRequest("MaxPrefixSubnetAllocationError", "Unable to allocate subnet with prefix length %d, maximum allowed prefix is %d.", bits, p.MaxPrefixLen)
	}
	if bits < int(p.MinPrefixLen) {
		return netip.Prefix{}, core.BadRequest("MinPrefixSubnetAllocationError", "Unable to allocate subnet with prefix length %d, minimum allowed prefix is %d.", bits, p.MinPrefixLen)
	}
	taken := svc.takenFrom(p)
	if units := p.unitsOf(bits); p.DefaultQuota != 0 && units+p.unitsOfAll(taken) > float64(p.DefaultQuota) {
		return netip.Prefix{}, core.Conflict("SubnetPoolQuotaExceeded", "Per-tenant subnet pool prefix quota exceeded.")
	}
	// Neutron's status for an exhausted pool is 500, with a type.
	poolExhausted := func(format string, args ...any) error {
		return core.Fail(http.StatusInternalServerError, "SubnetAllocationError", "Failed to allocate subnet: "+format+".", args...)
	}
	if given.IsValid() {
		if !insidePool(p, given) || overlapsAny(given, taken) {
			return netip.Prefix{}, poolExhausted("Cannot allocate requested subnet from the available set of prefixes")
		}
		return given, nil
	}
	free := p.free(taken)
	slices.SortStableFunc(free, func(a, b netip.Prefix) int { return b.Bits() - a.Bits() })
	for _, one := range free {
		if one.Bits() <= bits {
			return netip.PrefixFrom(one.Addr(), bits), nil
		}
	}
	return netip.Prefix{}, poolExhausted("Insufficient prefix space to allocate subnet size /%d", bits)
}

func (svc *Service) takenFrom(p *SubnetPool) []netip.Prefix {
	var taken []netip.Prefix
	for _, s := range svc.Subnets.Rows {
		if string(s.SubnetPoolID) == p.ID {
			taken = append(taken, PrefixOf(s))
		}
	}
	return taken
}

// unitsOf is how much a range of a length uses of the pool's quota: addresses of IPv4, and /64s of IPv6.
func (p *SubnetPool) unitsOf(bits int) float64 {
	unit := 32
	if p.IPVersion == 6 {
		unit = 64
	}
	return math.Pow(2, float64(unit-bits))
}

func (p *SubnetPool) unitsOfAll(prefixes []netip.Prefix) float64 {
	var sum float64
	for _, prefix := range prefixes {
		sum += p.unitsOf(prefix.Bits())
	}
	return sum
}

// free returns the free ranges of a pool, sorted.
func (p *SubnetPool) free(taken []netip.Prefix) []netip.Prefix {
	var left []netip.Prefix
	for _, text := range p.Prefixes {
		left = append(left, remainder(netip.MustParsePrefix(text), taken)...)
	}
	slices.SortFunc(left, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	return left
}

// remainder returns the largest ranges in a range that overlap no used one.
func remainder(all netip.Prefix, taken []netip.Prefix) []netip.Prefix {
	inside := core.Without(taken, func(t netip.Prefix) bool { return !t.Overlaps(all) })
	if len(inside) == 0 {
		return []netip.Prefix{all}
	}
	if slices.ContainsFunc(inside, func(t netip.Prefix) bool { return t.Bits() <= all.Bits() }) {
		return nil
	}
	lower, upper := halves(all)
	return append(remainder(lower, inside), remainder(upper, inside)...)
}

// halves divides a range into two.
func halves(p netip.Prefix) (lower, upper netip.Prefix) {
	raw := p.Addr().AsSlice()
	raw[p.Bits()/8] |= 1 << (7 - p.Bits()%8)
	middle, _ := netip.AddrFromSlice(raw)
	return netip.PrefixFrom(p.Addr(), p.Bits()+1), netip.PrefixFrom(middle, p.Bits()+1)
}

// compacted merges adjacent ranges and drops contained ones.
func compacted(prefixes []netip.Prefix) []netip.Prefix {
	sorted := slices.Clone(prefixes)
	slices.SortFunc(sorted, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits())
	})
	var out []netip.Prefix
	for _, next := range sorted {
		if len(out) > 0 && out[len(out)-1].Overlaps(next) {
			continue
		}
		out = append(out, next)
		for len(out) > 1 && out[len(out)-1].Bits() == out[len(out)-2].Bits() {
			whole := netip.PrefixFrom(out[len(out)-2].Addr(), out[len(out)-2].Bits()-1).Masked()
			if whole.Addr() != out[len(out)-2].Addr() || !whole.Contains(out[len(out)-1].Addr()) {
				break
			}
			out = append(out[:len(out)-2], whole)
		}
	}
	return out
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

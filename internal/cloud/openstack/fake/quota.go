package fake

import (
	"errors"
	"slices"

	"github.com/trellis-garden/trellis/internal/cloud/openstack/fake/internal/core"
	"github.com/trellis-garden/trellis/internal/cloud/openstack/wire"
)

// Unlimited is the quota of everything unless set.
const Unlimited = -1

// limit returns a quota, or Unlimited.
func (c *Cloud) limit(projectID, resource string) int {
	if limit, isSet := c.quotas[projectID][resource]; isSet {
		return limit
	}
	return Unlimited
}

func (c *Cloud) exceeds(projectID, resource string, have, more int) bool {
	limit := c.limit(projectID, resource)
	return limit != Unlimited && have+more > limit
}

// checkQuota answers as Neutron does when a create would go over a quota.
func (c *Cloud) checkQuota(projectID, resource string, have, more int) error {
	if resource != "" && c.exceeds(projectID, resource, have, more) {
		return core.Conflict("OverQuota", "Quota exceeded for resources: ['%s'].", resource)
	}
	return nil
}

// checkedBeforeQuota reports whether a create is refused before Neutron looks at the quota: it understands and authorises a request
// first, for which it looks up the network that things are in.
func checkedBeforeQuota(err error) bool {
	refusal, isRefusal := errors.AsType[*wire.Error](err)
	return isRefusal && slices.Contains([]string{"HTTPBadRequest", "PolicyNotAuthorized", "NetworkNotFound"}, refusal.Type)
}

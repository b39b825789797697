package openstack

import (
	"context"
	"fmt"
	"slices"

	openstackv1alpha1 "github.com/trellis-garden/trellis/apis/openstack/v1alpha1"
	"github.com/trellis-garden/trellis/internal/cloud"
	cloudopenstack "github.com/trellis-garden/trellis/internal/cloud/openstack"
)

// observeShareNetwork finds the share network if one is wanted, whatever its name is by now.
func (rec *reconciliation) observeShareNetwork(ctx context.Context) error {
	if !rec.plan.shareNetwork {
		return nil
	}
	if err := rec.requireShares(); err != nil {
		return err
	}
	found, err := search[cloudopenstack.ShareNetwork]{
		what: "share network", kind: kindShareNetwork,
		byID: func(ctx context.Context, id string) ([]cloudopenstack.ShareNetwork, error) {
			return rec.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{ID: id})
		},
		byMark:   rec.markedShareNetworks,
		identify: func(s cloudopenstack.ShareNetwork) (string, string) { return s.ID, s.Description },
	}.find(ctx, rec)
	rec.observed.shareNetwork = found
	return err
}

func (rec *reconciliation) requireShares() error {
	if rec.cloud.HasShares() {
		return nil
	}
	return cloud.Errorf(cloud.Configuration, "networks.shareNetwork.enabled: this cloud offers no shared file systems "+
		"(Manila is not in its catalog for the region); switch the share network off")
}

// markedShareNetworks returns those with the mark. Manila does not filter by description, so the request filters by the name at creation.
func (rec *reconciliation) markedShareNetworks(ctx context.Context, mark string) ([]cloudopenstack.ShareNetwork, error) {
	found, err := rec.cloud.ListShareNetworks(ctx, cloudopenstack.ShareNetworkFilter{Name: rec.technicalID})
	return slices.DeleteFunc(found, func(share cloudopenstack.ShareNetwork) bool { return share.Description != mark }), err
}

// ensureShareNetwork creates the share network for network and node subnet.
func (rec *reconciliation) ensureShareNetwork(ctx context.Context) error {
	share := rec.observed.shareNetwork
	if share == nil {
		created, err := rec.cloud.CreateShareNetwork(ctx, cloudopenstack.ShareNetworkCreate{
			Name: rec.technicalID, Description: rec.mark, NetworkID: rec.net.ID, SubnetID: rec.ensuredSubnet(kindSubnet).ID,
		})
		if err != nil {
			rec.recordFailedCreate(kindShareNetwork, err)
			return fmt.Errorf("creating share network %q: %w", rec.technicalID, err)
		}
		rec.log.Info("Created share network", "id", created.ID)
		share = &created
	}
	if subnet := rec.ensuredSubnet(kindSubnet).ID; share.SubnetID != subnet {
		rec.addFindings(fmt.Sprintf("share network %s is over subnet %s, not over the node subnet %s", share.ID, share.SubnetID, subnet))
	}
	rec.recordResource(kindShareNetwork, share.ID, own, map[string]string{openstackv1alpha1.StateKeyShareNetworkName: share.Name})
	return nil
}

package aws

import (
	"context"
	"fmt"
	"slices"

	cloudaws "github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/contract"
)

// ensureEndpoints makes the VPC have a gateway endpoint for each wanted service, with the route tables of all zones, and removes the shoot's others.
func (rec *reconciliation) ensureEndpoints(ctx context.Context) error {
	var tables []string
	for _, z := range rec.plan.zones {
		tables = append(tables, rec.zone(z.name).table)
	}
	var steps []func() error
	for _, service := range rec.plan.endpoints {
		steps = append(steps, func() error { return rec.ensureEndpoint(ctx, service, tables) })
	}
	return contract.InParallel(append(steps, func() error { return rec.removeEndpoints(ctx) })...)
}

// observedEndpoint returns the shoot's endpoint for a service.
func (rec *reconciliation) observedEndpoint(service string) *cloudaws.Endpoint {
	existing := slices.DeleteFunc(slices.Clone(rec.observed.endpoints), func(e cloudaws.Endpoint) bool {
		return e.Service != service || e.State == "deleting" || e.State == "deleted"
	})
	return pick(rec, "gateway endpoint", rec.endpointKind(service), rec.plan.endpointName(service), existing)
}

func (rec *reconciliation) endpointKind(service string) kind {
	return endpointKind(service[len(servicePrefix(rec.plan.region)):])
}

func (rec *reconciliation) ensureEndpoint(ctx context.Context, service string, tables []string) error {
	k, tags := rec.endpointKind(service), rec.plan.tags(rec.plan.endpointName(service))
	endpoint := rec.observedEndpoint(service)
	if endpoint == nil {
		_, err := rec.create(k, "gateway endpoint for "+service, true, func() (string, error) {
			created, err := rec.cloud.CreateEndpoint(ctx, cloudaws.EndpointCreate{
				VPCID: rec.vpcID, Service: service, RouteTableIDs: tables, Token: rec.token(k), Tags: tags,
			})
			return created.ID, err
		})
		return err
	}
	rec.recordOwn(k, endpoint.ID)
	missing := slices.DeleteFunc(slices.Clone(tables), func(id string) bool { return slices.Contains(endpoint.RouteTableIDs, id) })
	if len(missing) > 0 {
		if err := rec.cloud.UpdateEndpoint(ctx, endpoint.ID, cloudaws.EndpointUpdate{AddRouteTableIDs: missing}); err != nil {
			return fmt.Errorf("adding route tables to gateway endpoint %s: %w", endpoint.ID, err)
		}
	}
	return rec.repairTags(ctx, endpoint.ID, tags, endpoint.Tags)
}

// removeEndpoints removes the shoot's endpoints for services that are not wanted any more.
func (rec *reconciliation) removeEndpoints(ctx context.Context) error {
	recorded := rec.recordedEndpoints()
	var ids []string
	for _, endpoint := range rec.observed.endpoints {
		isOwn := recorded[endpoint.Service] == endpoint.ID || rec.plan.owns(endpoint.Tags)
		if isOwn && !slices.Contains(rec.plan.endpoints, endpoint.Service) && endpoint.State != "deleting" && endpoint.State != "deleted" {
			ids = append(ids, endpoint.ID)
		}
	}
	if len(ids) > 0 {
		if err := rec.cloud.DeleteEndpoints(ctx, ids); err != nil {
			return fmt.Errorf("deleting gateway endpoints: %w", err)
		}
	}
	rec.updateState(func(s *state) {
		for service := range recorded {
			if !slices.Contains(rec.plan.endpoints, service) {
				s.Forget(rec.endpointKind(service))
			}
		}
	})
	return nil
}

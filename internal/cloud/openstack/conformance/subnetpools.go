package conformance

func subnetPools() []Behaviour {
	return []Behaviour{}
}

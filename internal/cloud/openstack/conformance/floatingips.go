package conformance

func floatingIPs() []Behaviour {
	return []Behaviour{}
}

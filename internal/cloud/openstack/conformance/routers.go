package conformance

func routers() []Behaviour {
	return []Behaviour{}
}

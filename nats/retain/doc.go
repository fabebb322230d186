// Package retain removes what the servers keep of runs and jobs that are over, as a policy says.
//
//	runs of the stream ──Policy: how many, how old, how much──▶ those to remove ──purge──▶ stream
//	jobs that are over, whose run is not there ──▶ MOON_JOBS      plans that no job and no schedule has ──▶ MOON_PLANS
//
// A run that is in progress stays, and one that can be resumed does too unless the policy says otherwise. What runs have made stays.
package retain

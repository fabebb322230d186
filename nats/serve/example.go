package serve

// Example is a configuration to begin with: who may execute runs, who may attend them, and who may only watch.
const Example = `# A server that other machines can reach. Start it with: moon-nats serve --listen 0.0.0.0:4222 --config FILE
# Replace the passwords: by bcrypt ("nats server passwd"), or better by nkeys or credentials; see the documentation of NATS.

# tls {
#   cert_file: "server.pem"
#   key_file:  "server-key.pem"
#   ca_file:   "ca.pem"
#   verify:    true          # clients show certificates of their own, too
# }

accounts {
  MOON {
    jetstream: enabled
    users: [
      # Executes runs: writes journals, holds leases, makes the stream, answers requests; opens sessions to hosts, and is root there if
      # their agents are.
      { user: "runner", password: "change-me-1", permissions: {
          publish:   ["moon.runs.>", "moon.control.*.runner", "moon.queue.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "moon.agents.>",
            "$KV.MOON_LEASES.>", "$KV.MOON_JOBS.>", "$KV.MOON_LOCKS.>", "$KV.MOON_SCHEDULES.>", "$O.MOON_PLANS.>"]
          subscribe: ["moon.control.>", "_INBOX_runner.>", "moon.sessions.>"]
          allow_responses: { max: 1, expires: "2m" } } }
      # The agent of the host web1, and of no other: each host has a user of its own like this. In a name all but letters, digits, - and _
      # is written as in URLs: web1%2Eexample%2Ecom.
      { user: "web1", password: "change-me-5", permissions: {
          publish:   ["moon.agents.web1.who", "moon.sessions.web1.>"]
          subscribe: ["moon.agents.web1.>"] } }
      # Attends runs: approves, skips, retries, under no other name than this one.
      { user: "ada", password: "change-me-2", permissions: {
          publish:   ["moon.control.*.ada",
            "$JS.API.STREAM.INFO.MOON_RUNS", "$JS.API.STREAM.INFO.KV_MOON_LEASES", "$JS.API.STREAM.MSG.GET.MOON_RUNS",
            "$JS.API.CONSUMER.CREATE.MOON_RUNS.>", "$JS.API.CONSUMER.MSG.NEXT.MOON_RUNS.>", "$JS.API.CONSUMER.DELETE.MOON_RUNS.>",
            "$JS.API.CONSUMER.INFO.MOON_RUNS.>", "$JS.API.DIRECT.GET.KV_MOON_LEASES.>", "$JS.API.DIRECT.GET.MOON_RUNS.>", "$JS.FC.>"]
          subscribe: ["_INBOX_ada.>"] } }
      # Submits jobs, and stops its runs; a worker runs whatever is submitted, as the user that it is. A worker has to have been there once.
      { user: "submitter", password: "change-me-4", permissions: {
          publish:   ["moon.control.*.submitter", "moon.queue.>", "$KV.MOON_JOBS.>", "$KV.MOON_SCHEDULES.>", "$O.MOON_PLANS.>",
            "$JS.API.STREAM.INFO.*", "$JS.API.DIRECT.GET.KV_MOON_LEASES.>", "$JS.API.DIRECT.GET.KV_MOON_JOBS.>",
            "$JS.API.DIRECT.GET.KV_MOON_SCHEDULES.>", "$JS.API.DIRECT.GET.OBJ_MOON_PLANS.>",
            "$JS.API.CONSUMER.CREATE.KV_MOON_JOBS.>", "$JS.API.CONSUMER.CREATE.KV_MOON_SCHEDULES.>",
            "$JS.API.CONSUMER.DELETE.KV_MOON_JOBS.>", "$JS.API.CONSUMER.DELETE.KV_MOON_SCHEDULES.>", "$JS.FC.>"]
          subscribe: ["_INBOX_submitter.>"] } }
      # Watches runs, and can do nothing to them. What is published reads the stream, from any place in it, and who has which run.
      { user: "watcher", password: "change-me-3", permissions: {
          publish:   [
            "$JS.API.STREAM.INFO.MOON_RUNS", "$JS.API.STREAM.INFO.KV_MOON_LEASES", "$JS.API.STREAM.MSG.GET.MOON_RUNS",
            "$JS.API.CONSUMER.CREATE.MOON_RUNS.>", "$JS.API.CONSUMER.MSG.NEXT.MOON_RUNS.>", "$JS.API.CONSUMER.DELETE.MOON_RUNS.>",
            "$JS.API.CONSUMER.INFO.MOON_RUNS.>", "$JS.API.DIRECT.GET.KV_MOON_LEASES.>", "$JS.API.DIRECT.GET.MOON_RUNS.>", "$JS.FC.>"]
          subscribe: ["_INBOX_watcher.>"] } }
    ]
  }
}
`

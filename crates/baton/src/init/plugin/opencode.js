// Made by `baton init --opencode`; `baton init --opencode --undo` removes it.
// Tells `baton hook opencode` what the agent does, and lets the main session go on when its handoff is not accepted.
import { spawn } from "node:child_process"

// Whatever goes wrong here holds nobody.
function hook(event) {
  return new Promise((resolve) => {
    const child = spawn("baton", ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    let said = ""
    child.stdout.on("data", (data) => (said += data))
    child.on("error", () => resolve(undefined))
    child.on("close", () => {
      try {
        resolve(said.trim() ? JSON.parse(said) : undefined)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

export const Baton = async ({ client, directory }) => {
  const again = new Set()
  const tell = (session, name, more) => hook({ session_id: session, cwd: directory, hook_event_name: name, ...more })
  return {
    "chat.message": async ({ sessionID }) => {
      if (!again.has(sessionID)) await tell(sessionID, "UserPromptSubmit", {})
    },
    "tool.execute.after": async (input, output) => {
      await tell(input.sessionID, "PostToolUse", {
        tool_name: input.tool,
        tool_input: input.args ?? {},
        tool_response: { error: output?.metadata?.error ?? null },
      })
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const id = event.properties.sessionID
      const session = await client.session.get({ path: { id } })
      // The result of a subagent has been handed over by now.
      if (session.data?.parentID) return
      const messages = (await client.session.messages({ path: { id } })).data ?? []
      const last = messages.filter((message) => message.info.role === "assistant").pop()
      const text = (last?.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
      const answer = await tell(id, "Stop", { last_assistant_message: text, stop_hook_active: again.has(id) })
      again.delete(id)
      if (answer?.decision !== "block") return
      again.add(id)
      await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: answer.reason }] } })
    },
  }
}

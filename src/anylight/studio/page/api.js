// Questions to the studio's server; what is wrong comes as one sentence.
import { toast } from "./dom.js";

async function asked(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
  } catch {
    toast("The studio does not answer. Is it still running in the terminal?");
    throw new Error("no answer");
  }
  if (answer.ok) return answer;
  let sentence = `The studio refused this (${answer.status}).`;
  if ((answer.headers.get("content-type") || "").includes("json")) {
    sentence = (await answer.json()).sentence || sentence;
  }
  const error = new Error(sentence);
  error.status = answer.status;
  throw error;
}

export async function get(path) {
  return (await asked(path)).json();
}

export async function bytes(path) {
  const answer = await asked(path);
  return { buffer: await answer.arrayBuffer(), headers: answer.headers };
}

export async function post(path, body = {}) {
  const answer = await asked(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return answer.json();
}

export async function put(path, body) {
  return (await asked(path, { method: "PUT", body })).json();
}

// The same, with the sentence shown and nothing thrown.
export async function tried(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.message !== "no answer") toast(error.message);
    return null;
  }
}
